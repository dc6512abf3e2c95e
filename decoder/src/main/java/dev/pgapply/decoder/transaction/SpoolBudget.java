package dev.pgapply.decoder.transaction;

/// What all open streamed transactions hold together, against the limits of [SpoolSettings].
final class SpoolBudget {

    private final SpoolSettings settings;
    private final FullDisk fullDisk;
    private long memoryBytes;
    private long diskBytes;

    SpoolBudget(SpoolSettings settings, FullDisk fullDisk) {
        this.settings = settings;
        this.fullDisk = fullDisk;
    }

    FullDisk fullDisk() {
        return fullDisk;
    }

    void memoryChanged(long bytes) {
        memoryBytes += bytes;
    }

    boolean memoryIsExceededWith(long more) {
        return memoryBytes + more > settings.memoryBytes();
    }

    /// @throws SpoolException.LimitReached if there is not so much left
    void takeDisk(long bytes, int xid) {
        if (bytes > settings.diskBytes() - diskBytes) {
            throw new SpoolException.LimitReached(xid, settings.directory(), settings.diskBytes());
        }
        diskBytes += bytes;
    }

    void giveDiskBack(long bytes) {
        diskBytes -= bytes;
    }

    SpoolUsage usage(int transactions) {
        return new SpoolUsage(transactions, memoryBytes, diskBytes);
    }
}
