package dev.pgapply.decoder.transaction;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// One owner's files in a directory that others may use too.
///
/// Every owner has a locked file `pgapply-ID.lock`, and spool files `pgapply-ID-XID.spool`. The lock ends with
/// its process, however that ends, so a lock file that can be locked was left by a dead owner: it and what
/// belongs to it is removed when the next one comes.
final class SpoolDirectory implements AutoCloseable {

    private static final String PREFIX = "pgapply-";
    private static final String LOCK = ".lock";
    private static final int ID_BYTES = 8;

    private final Path path;
    private final String owner;
    private final Path lockFile;
    private final FileChannel lockChannel;

    private SpoolDirectory(Path path, String owner, Path lockFile, FileChannel lockChannel) {
        this.path = path;
        this.owner = owner;
        this.lockFile = lockFile;
        this.lockChannel = lockChannel;
    }

    /// Creates the directory if it is missing, removes what dead owners left, and becomes an owner.
    ///
    /// @throws SpoolException.Unusable if any of it fails
    static SpoolDirectory open(Path path) {
        try {
            Files.createDirectories(path);
            removeLeftovers(path);
            while (true) {
                SpoolDirectory directory = tryToOwn(path);
                if (directory != null) {
                    return directory;
                }
            }
        } catch (IOException e) {
            throw new SpoolException.Unusable(0, path, e);
        }
    }

    /// Between creating the lock file and locking it, another owner that cleans up may take it for a leftover;
    /// then another name is tried.
    private static @Nullable SpoolDirectory tryToOwn(Path path) throws IOException {
        byte[] id = new byte[ID_BYTES];
        new SecureRandom().nextBytes(id);
        String owner = PREFIX + HexFormat.of().formatHex(id);
        Path lockFile = path.resolve(owner + LOCK);
        FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        if (lock(channel) && Files.exists(lockFile)) {
            return new SpoolDirectory(path, owner, lockFile, channel);
        }
        channel.close();
        return null;
    }

    private static void removeLeftovers(Path path) throws IOException {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(path, PREFIX + "*" + LOCK)) {
            for (Path lockFile : locks) {
                removeIfDead(path, lockFile);
            }
        }
    }

    private static void removeIfDead(Path path, Path lockFile) throws IOException {
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE)) {
            if (lock(channel)) {
                String owner = lockFile.getFileName().toString().replace(LOCK, "");
                removeSpoolFiles(path, owner);
                Files.deleteIfExists(lockFile);
            }
        } catch (NoSuchFileException e) {
            // Another owner that started at the same moment has removed it.
        }
    }

    private static boolean lock(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            // An owner in this very process.
            return false;
        }
    }

    private static void removeSpoolFiles(Path path, String owner) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, owner + "-*.spool")) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
    }

    Path path() {
        return path;
    }

    /// Where the changes of a transaction go.
    Path file(int xid) {
        return path.resolve(owner + "-" + Integer.toUnsignedString(xid) + ".spool");
    }

    /// Removes all that is left of this owner.
    @Override
    public void close() {
        try (lockChannel) {
            if (lockChannel.isOpen()) {
                removeSpoolFiles(path, owner);
                Files.deleteIfExists(lockFile);
            }
        } catch (IOException e) {
            throw new SpoolException.Unusable(0, path, e);
        }
    }
}
