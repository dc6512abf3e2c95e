package dev.pgapply.apply.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ChangeQueueTest {

    private static final TransactionEvent COMMIT = new TransactionEvent.Commit(new Lsn(1), new Lsn(2), Instant.EPOCH);

    private final ChangeQueue queue = new ChangeQueue(100);

    @Test
    void whatDoesNotFitIsRefusedUntilThereIsRoom() throws InterruptedException {
        assertTrue(queue.offer(batch(60), Duration.ZERO));
        assertFalse(queue.offer(batch(41), Duration.ofMillis(1)));
        assertTrue(queue.offer(batch(40), Duration.ZERO));
        assertEquals(100, queue.bytes());
        assertFalse(queue.offer(batch(1), Duration.ZERO));
        assertEquals(60, bytes(queue.poll(Duration.ZERO)));
        assertTrue(queue.offer(batch(60), Duration.ZERO));
        assertEquals(100, queue.bytes());
    }

    @Test
    void aBatchAboveTheBoundIsTakenByAnEmptyQueueOnly() throws InterruptedException {
        assertTrue(queue.offer(batch(500), Duration.ZERO));
        assertFalse(queue.offer(batch(1), Duration.ZERO));
        assertEquals(500, bytes(queue.poll(Duration.ZERO)));
        assertTrue(queue.offer(batch(1), Duration.ZERO));
        assertFalse(queue.offer(batch(500), Duration.ZERO));
    }

    @Test
    void whoWaitsIsWokenByTheOtherSide() throws InterruptedException {
        assertTrue(queue.offer(batch(100), Duration.ZERO));
        Thread taker = Thread.ofPlatform().start(() -> {
            try {
                queue.poll(Duration.ofMinutes(1));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertTrue(queue.offer(batch(100), Duration.ofMinutes(1)));
        taker.join();
        assertEquals(100, queue.bytes());
    }

    @Test
    void anEmptyQueueGivesNothing() throws InterruptedException {
        assertNull(queue.poll(Duration.ofMillis(1)));
        assertTrue(queue.isEmpty());
    }

    @Test
    void aPositionWithoutEventsJoinsWhatWaits() throws InterruptedException {
        ChangeQueue.Batch events = batch(100);
        assertTrue(queue.offer(events, Duration.ZERO));
        for (int lsn = 1; lsn <= 1_000; lsn++) {
            assertTrue(queue.offer(new ChangeQueue.Batch(List.of(), 0, new Lsn(lsn)), Duration.ZERO));
        }
        assertEquals(new ChangeQueue.Batch(events.events(), 100, new Lsn(1_000)), queue.poll(Duration.ZERO));
        assertTrue(queue.isEmpty());
    }

    private static long bytes(ChangeQueue.@Nullable Batch batch) {
        return batch == null ? -1 : batch.bytes();
    }

    private static ChangeQueue.Batch batch(long bytes) {
        return new ChangeQueue.Batch(List.of(COMMIT), bytes, Lsn.INVALID);
    }
}
