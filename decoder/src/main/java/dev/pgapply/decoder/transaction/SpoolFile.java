package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;

/// The part of a transaction that is in a file. The file exists from the first write on and is open only while
/// it is used, so the number of transactions is not limited by that of open files. Nothing is forced to the
/// disk: what a crash destroys is sent again.
final class SpoolFile {

    private static final int BLOCK_BYTES = 64 * 1024;

    private final int xid;
    private final Path path;
    private final SpoolBudget budget;
    private long length;

    SpoolFile(int xid, Path path, SpoolBudget budget) {
        this.xid = xid;
        this.path = path;
        this.budget = budget;
    }

    long length() {
        return length;
    }

    void append(SpoolMemory memory) {
        append(memory.usedBytes(), memory::writeTo);
    }

    void append(Bytes wire) {
        append(SpoolRecord.sizeOf(wire), out -> SpoolRecord.write(wire, out));
    }

    private interface Writing {
        void to(OutputStream out) throws IOException;
    }

    private void append(long bytes, Writing writing) {
        budget.takeDisk(bytes, xid);
        for (int waits = 0; !tryToAppend(bytes, writing, waits); waits++) {
            // The whole of it again: what was written of it is cut off.
        }
        length += bytes;
    }

    /// @return whether it was written; if not, there may be room now
    private boolean tryToAppend(long bytes, Writing writing, int waits) {
        try {
            if (length == 0) {
                createForThisUserOnly();
            }
            try (OutputStream out = new FileOutputStream(path.toFile(), true)) {
                writing.to(out);
            }
            return true;
        } catch (IOException e) {
            cutBack();
            if (!isFull(e, bytes)) {
                throw new SpoolException.Unusable(xid, directory(), e);
            }
            budget.fullDisk().await(new SpoolException.DiskFull(xid, directory(), e), waits);
            return false;
        }
    }

    private void cutBack() {
        if (!Files.isRegularFile(path)) {
            return;
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(length);
        } catch (IOException e) {
            throw new SpoolException.Unusable(xid, directory(), e);
        }
    }

    private void createForThisUserOnly() throws IOException {
        try {
            if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
        } catch (FileAlreadyExistsException e) {
            // Cut back to nothing by an abort, and now written again.
        }
    }

    /// The JDK has no type of exception for it.
    private boolean isFull(IOException e, long bytes) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return message.contains("no space left")
                || message.contains("quota")
                || (Files.isDirectory(directory()) && directory().toFile().getUsableSpace() < bytes);
    }

    /// Keeps the first bytes, which end with a record.
    void truncate(long keep) {
        if (keep >= length) {
            return;
        }
        budget.giveDiskBack(length - keep);
        length = keep;
        cutBack();
    }

    void delete() {
        try {
            if (length > 0) {
                budget.giveDiskBack(length);
                length = 0;
            }
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new SpoolException.Unusable(xid, directory(), e);
        }
    }

    /// Hands out the messages in the order they were written, with constant memory.
    ///
    /// @throws SpoolException.Damaged if a record is not what was written; those before it have been handed out
    void replay(SpoolMemory.Sink sink) {
        if (length == 0) {
            return;
        }
        try (InputStream in = new FileInputStream(path.toFile())) {
            BlockReader reader = new BlockReader(in, length);
            while (reader.hasRemaining()) {
                reader.need(SpoolRecord.HEADER_BYTES);
                int size = reader.int32();
                int checksum = reader.int32();
                if (size <= 0) {
                    throw damaged("a record has a size of " + size);
                }
                reader.need(size);
                if (!SpoolRecord.isIntact(reader.block, reader.at, size, checksum)) {
                    throw damaged("the checksum of a record is wrong");
                }
                sink.accept(reader.block, reader.at, size);
                reader.at += size;
            }
        } catch (IOException e) {
            throw new SpoolException.Unusable(xid, directory(), e);
        }
    }

    private SpoolException.Damaged damaged(String how) {
        return new SpoolException.Damaged(xid, directory(), how);
    }

    private Path directory() {
        Path parent = path.getParent();
        return parent == null ? path : parent;
    }

    /// Reads ahead in blocks. A block is never filled a second time, because messages that were handed out
    /// share it.
    private final class BlockReader {

        private final InputStream in;
        private long unread;
        private byte[] block = new byte[0];
        private int at;

        BlockReader(InputStream in, long length) {
            this.in = in;
            this.unread = length;
        }

        boolean hasRemaining() {
            return at < block.length || unread > 0;
        }

        int int32() {
            int value = ByteBuffer.wrap(block).getInt(at);
            at += 4;
            return value;
        }

        /// Makes so many bytes available in one piece. The size may come from a damaged record, so it is
        /// compared with what is left before anything is allocated.
        void need(int bytes) throws IOException {
            int left = block.length - at;
            if (bytes <= left) {
                return;
            }
            if (bytes > left + unread) {
                throw damaged("a record is larger than the rest of the file");
            }
            int read = (int) Math.min(unread, Math.max(BLOCK_BYTES, (long) bytes) - left);
            byte[] next = new byte[left + read];
            System.arraycopy(block, at, next, 0, left);
            if (in.readNBytes(next, left, read) < read) {
                throw damaged("the file is shorter than it was written");
            }
            unread -= read;
            block = next;
            at = 0;
        }
    }
}
