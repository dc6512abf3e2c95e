package dev.pgapply.decoder.transaction;

/// What is done while the file system of the spool has no room.
@FunctionalInterface
public interface FullDisk {

    /// Returns when it is worth trying again; what could not be written is kept meanwhile.
    ///
    /// @param waits how often this write has waited before
    /// @throws SpoolException.DiskFull if it is not to be tried again
    void await(SpoolException.DiskFull full, int waits);

    /// For those who cannot wait.
    static FullDisk fail() {
        return (full, waits) -> {
            throw full;
        };
    }
}
