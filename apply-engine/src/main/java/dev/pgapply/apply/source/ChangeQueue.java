package dev.pgapply.apply.source;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The one way forward from the receiver's thread to the applier's: batches of events in commit order, bounded
/// by the bytes they hold. A batch that is larger than the bound is taken when the queue is empty. One without
/// events joins the last one that waits: however long the applier is held up, positions alone never add up.
public final class ChangeQueue {

    /// Some events in order.
    ///
    /// @param bytes the heap they hold, about
    /// @param idleAt where the source stood behind these events while no transaction was open; `0/0` if one was
    public record Batch(List<TransactionEvent> events, long bytes, Lsn idleAt) {}

    private final long maxBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private final ArrayDeque<Batch> batches = new ArrayDeque<>();
    private long bytes;

    public ChangeQueue(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /// Waits for room, but no longer than the patience.
    ///
    /// @return whether the batch was taken
    public boolean offer(Batch batch, Duration patience) throws InterruptedException {
        long nanos = patience.toNanos();
        lock.lockInterruptibly();
        try {
            if (batch.events().isEmpty() && !batches.isEmpty()) {
                Batch last = batches.removeLast();
                batches.add(new Batch(last.events(), last.bytes(), batch.idleAt()));
                return true;
            }
            while (!batches.isEmpty() && bytes + batch.bytes() > maxBytes) {
                if (nanos <= 0) {
                    return false;
                }
                nanos = notFull.awaitNanos(nanos);
            }
            batches.add(batch);
            bytes += batch.bytes();
            notEmpty.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for a batch, but no longer than the patience; null if none came.
    public @Nullable Batch poll(Duration patience) throws InterruptedException {
        long nanos = patience.toNanos();
        lock.lockInterruptibly();
        try {
            while (batches.isEmpty()) {
                if (nanos <= 0) {
                    return null;
                }
                nanos = notEmpty.awaitNanos(nanos);
            }
            Batch batch = batches.remove();
            bytes -= batch.bytes();
            notFull.signal();
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /// Whether nothing waits now.
    public boolean isEmpty() {
        lock.lock();
        try {
            return batches.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /// The bytes that wait now; never above the bound but for a single batch.
    public long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }
}
