package dev.pgapply.apply.source;

import static dev.pgapply.apply.source.BurstInputStream.FULL_BURST_BYTES;
import static dev.pgapply.apply.source.BurstInputStream.LONGEST_BURST_NANOS;
import static dev.pgapply.apply.source.BurstInputStream.LONG_WINDOW_NANOS;
import static dev.pgapply.apply.source.BurstInputStream.LOOK_NANOS;
import static dev.pgapply.apply.source.BurstInputStream.MANY_BYTES;
import static dev.pgapply.apply.source.BurstInputStream.MANY_READS;
import static dev.pgapply.apply.source.BurstInputStream.QUIET_LOOKS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BurstInputStreamTest {

    /// A socket on which bytes arrive at given times, and the clock that both sides see.
    private static final class Line extends InputStream implements BurstInputStream.Waiting {
        private final TreeMap<Long, Integer> arrivals = new TreeMap<>();
        private long now;
        private long arrived;
        private long taken;
        private int pauses;
        private boolean patient = true;
        private boolean timesOut;

        void arrive(long nanosFromNow, int bytes) {
            arrivals.merge(now + nanosFromNow, bytes, Integer::sum);
        }

        private void advance(long to) {
            now = Math.max(now, to);
            var due = arrivals.headMap(now, true);
            due.values().forEach(bytes -> arrived += bytes);
            due.clear();
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public boolean pause(long nanos) {
            pauses++;
            advance(now + nanos);
            return patient;
        }

        @Override
        public int available() {
            advance(now);
            return (int) (arrived - taken);
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            advance(now);
            if (arrived == taken) {
                if (timesOut) {
                    throw new SocketTimeoutException();
                }
                if (arrivals.isEmpty()) {
                    return -1;
                }
                advance(arrivals.firstKey());
            }
            int part = (int) Math.min(Math.min(length, 128 << 10), arrived - taken);
            for (int i = 0; i < part; i++) {
                target[offset + i] = (byte) (taken + i);
            }
            taken += part;
            return part;
        }
    }

    private final Line line = new Line();
    private final BurstInputStream stream = new BurstInputStream(line, line);
    private final byte[] target = new byte[BurstInputStream.BUFFER_BYTES];

    private int read() throws IOException {
        return stream.read(target, 0, target.length);
    }

    private void fallBehind() throws IOException {
        line.arrive(0, MANY_BYTES);
        assertEquals(MANY_BYTES, read());
    }

    @Test
    void whileLittleComesAMessageIsHandedOverAtOnce() throws IOException {
        for (int i = 0; i < 10_000; i++) {
            line.arrive(100_000, 100);
            assertEquals(100, read());
        }
        assertEquals(0, line.pauses);
        assertEquals(10_000 * 100_000L, line.now);
    }

    @Test
    void manyBytesOrManyReadsBeginBursts() throws IOException {
        fallBehind();
        line.arrive(0, 10);
        read();
        assertTrue(line.pauses > 0);

        Line other = new Line();
        BurstInputStream reader = new BurstInputStream(other, other);
        for (int i = 0; i < MANY_READS; i++) {
            other.arrive(1000, 10);
            assertEquals(10, reader.read(target, 0, 100));
        }
        assertEquals(0, other.pauses);
        other.arrive(1000, 10);
        reader.read(target, 0, 100);
        assertTrue(other.pauses > 0);
    }

    @Test
    void aBurstEndsWhenEnoughHasGathered() throws IOException {
        fallBehind();
        for (int i = 1; i <= 100; i++) {
            line.arrive(i * 10_000L, 20_000);
        }
        assertTrue(read() >= FULL_BURST_BYTES);
        assertTrue(line.now < LONGEST_BURST_NANOS);
    }

    @Test
    void aBurstEndsAfterItsTime() throws IOException {
        fallBehind();
        for (int i = 1; i <= 1000; i++) {
            line.arrive(i * LOOK_NANOS / 2, 100);
        }
        int read = read();
        assertTrue(read > 2000 && read < 6000, read + " bytes");
        assertTrue(Math.abs(line.now - LONGEST_BURST_NANOS) <= LOOK_NANOS, line.now + " ns");
    }

    @Test
    void aBurstEndsWhenTheSenderFallsSilent() throws IOException {
        fallBehind();
        line.arrive(1, 500);
        assertEquals(500, read());
        assertEquals(QUIET_LOOKS + 1, line.pauses);
    }

    @Test
    void whatWaitsIsTakenWithoutAPauseAndInOneGo() throws IOException {
        fallBehind();
        line.arrive(0, 700_000);
        assertEquals(700_000, read());
        assertEquals(0, line.pauses);
    }

    @Test
    void afterALongTimeWithFewBytesReadsAreOrdinaryAgain() throws IOException {
        fallBehind();
        while (line.now < 3 * LONG_WINDOW_NANOS) {
            line.arrive(1_000_000, 100);
            read();
        }
        line.pauses = 0;
        line.arrive(1_000_000, 100);
        assertEquals(100, read());
        assertEquals(0, line.pauses);
    }

    @Test
    void aTimeoutLosesNothing() throws IOException {
        fallBehind();
        line.timesOut = true;
        for (int i = 0; i < 100; i++) {
            assertThrows(SocketTimeoutException.class, this::read);
        }
        line.pauses = 0;
        line.arrive(0, 3);
        assertEquals(3, stream.available());
        assertEquals((byte) MANY_BYTES, (byte) stream.read());
        assertEquals(2, stream.available());
        assertEquals(1, stream.read(target, 0, 1));
        assertEquals((byte) (MANY_BYTES + 1), target[0]);
        assertEquals(0, line.pauses);
    }

    @Test
    void anInterruptEndsTheWait() throws IOException {
        fallBehind();
        line.patient = false;
        line.arrive(0, 5);
        assertEquals(5, read());
        assertEquals(1, line.pauses);
    }

    @Test
    void theEndComesAfterTheLastByte() throws IOException {
        fallBehind();
        line.arrive(0, 300_000);
        assertEquals(1000, stream.read(target, 0, 1000));
        assertEquals(299_000, read());
        assertEquals(-1, read());
        assertEquals(-1, stream.read());
    }

    @Test
    void everyByteArrivesOnceAndInOrder() throws IOException {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        long at = 0;
        int sent = 0;
        for (int i = 0; i < 20_000; i++) {
            at += random.nextInt(10) == 0 ? random.nextInt(1_000_000) : random.nextInt(2000);
            int bytes = 1 + random.nextInt(300);
            line.arrive(at, bytes);
            sent += bytes;
        }
        int read = 0;
        while (read >= 0) {
            received.write(target, 0, read);
            read = stream.read(target, 0, 1 + random.nextInt(9000));
        }
        byte[] expected = new byte[sent];
        for (int i = 0; i < sent; i++) {
            expected[i] = (byte) i;
        }
        assertArrayEquals(expected, received.toByteArray(), "seed " + seed);
    }
}
