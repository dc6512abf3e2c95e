package dev.pgapply.decoder.transaction;

import java.util.concurrent.atomic.AtomicLong;

/// What all open streamed transactions hold together, against the limits of [SpoolSettings]. Only the thread of the
/// assembler takes; any thread may give back.
final class SpoolBudget {

    private final SpoolSettings settings;
    private final FullDisk fullDisk;
    private final AtomicLong memoryBytes = new AtomicLong();
    private final AtomicLong diskBytes = new AtomicLong();

    SpoolBudget(SpoolSettings settings, FullDisk fullDisk) {
        this.settings = settings;
        this.fullDisk = fullDisk;
    }

    FullDisk fullDisk() {
        return fullDisk;
    }

    void memoryChanged(long bytes) {
        memoryBytes.addAndGet(bytes);
    }

    boolean memoryIsExceededWith(long more) {
        return memoryBytes.get() + more > settings.memoryBytes();
    }

    /// @throws SpoolException.LimitReached if there is not so much left
    void takeDisk(long bytes, int xid) {
        if (bytes > settings.diskBytes() - diskBytes.get()) {
            throw new SpoolException.LimitReached(xid, settings.directory(), settings.diskBytes());
        }
        diskBytes.addAndGet(bytes);
    }

    void giveDiskBack(long bytes) {
        diskBytes.addAndGet(-bytes);
    }

    SpoolUsage usage(int transactions) {
        return new SpoolUsage(transactions, memoryBytes.get(), diskBytes.get());
    }
}
