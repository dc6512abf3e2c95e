package dev.pgapply.decoder.transaction;

import java.nio.file.Path;

/// Where streamed transactions wait for their commit, and how much of them there may be.
///
/// @param directory of the files; created if missing, may be shared with other processes and other files
/// @param memoryBytes held in memory over all open transactions, before the largest of them is written out
/// @param diskBytes held in files over all open transactions, before [SpoolException.LimitReached] is thrown
public record SpoolSettings(Path directory, long memoryBytes, long diskBytes) {

    public SpoolSettings {
        if (memoryBytes < 0 || diskBytes < 0) {
            throw new IllegalArgumentException("a limit is negative");
        }
    }
}
