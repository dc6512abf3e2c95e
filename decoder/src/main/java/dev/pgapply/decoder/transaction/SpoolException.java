package dev.pgapply.decoder.transaction;

import java.nio.file.Path;

/// A streamed transaction cannot be kept until its commit, or cannot be read back. Nothing of it has been
/// committed downstream and nothing was confirmed to the source, which sends it again after a restart.
public abstract sealed class SpoolException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int xid;
    private final String directory;

    private SpoolException(String message, int xid, Path directory, Throwable cause) {
        super(message, cause);
        this.xid = xid;
        this.directory = directory.toString();
    }

    private SpoolException(String message, int xid, Path directory) {
        super(message);
        this.xid = xid;
        this.directory = directory.toString();
    }

    /// The top-level transaction at the source, unsigned; 0 if no single one is concerned.
    public int xid() {
        return xid;
    }

    /// The directory of the spool files.
    public String directory() {
        return directory;
    }

    /// The files of all open transactions together would exceed the limit that was set.
    public static final class LimitReached extends SpoolException {
        private static final long serialVersionUID = 1;

        LimitReached(int xid, Path directory, long limitBytes) {
            super(
                    "transaction %s cannot be spooled: the files in %s have reached the limit of %d bytes"
                            .formatted(Integer.toUnsignedString(xid), directory, limitBytes),
                    xid,
                    directory);
        }
    }

    /// The file system has no room left.
    public static final class DiskFull extends SpoolException {
        private static final long serialVersionUID = 1;

        DiskFull(int xid, Path directory, Throwable cause) {
            super(
                    "transaction %s cannot be spooled: no space is left in %s"
                            .formatted(Integer.toUnsignedString(xid), directory),
                    xid,
                    directory,
                    cause);
        }
    }

    /// What is read is not what was written.
    public static final class Damaged extends SpoolException {
        private static final long serialVersionUID = 1;

        Damaged(int xid, Path directory, String how) {
            super(
                    "the spooled transaction %s in %s is damaged: %s"
                            .formatted(Integer.toUnsignedString(xid), directory, how),
                    xid,
                    directory);
        }
    }

    /// The directory or a file in it cannot be created, read, written or locked.
    public static final class Unusable extends SpoolException {
        private static final long serialVersionUID = 1;

        Unusable(int xid, Path directory, Throwable cause) {
            super(
                    "the spool directory %s cannot be used: %s".formatted(directory, cause.getMessage()),
                    xid,
                    directory,
                    cause);
        }
    }
}
