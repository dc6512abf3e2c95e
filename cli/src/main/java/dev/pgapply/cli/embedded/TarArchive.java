package dev.pgapply.cli.embedded;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/// Unpacks the plain tar archives that the server binaries come in: files, folders and symbolic links with
/// short names. Anything else in an archive is an error.
final class TarArchive {

    private static final int BLOCK = 512;

    private TarArchive() {}

    static void unpack(InputStream tar, Path folder) throws IOException {
        byte[] header = new byte[BLOCK];
        while (true) {
            if (tar.readNBytes(header, 0, BLOCK) < BLOCK) {
                throw new EOFException("the archive ends without an end mark");
            }
            if (header[0] == 0) {
                return;
            }
            unpackEntry(tar, header, folder);
        }
    }

    private static void unpackEntry(InputStream tar, byte[] header, Path folder) throws IOException {
        String name = text(header, 0, 100);
        Path path = folder.resolve(name).normalize();
        if (!path.startsWith(folder)) {
            throw new IOException("the archive has an entry outside of its folder");
        }
        int mode = (int) octal(header, 100, 8);
        long size = octal(header, 124, 12);
        byte type = header[156];
        switch (type) {
            case '5' -> Files.createDirectories(path);
            case '2' -> {
                Files.createDirectories(path.getParent());
                Files.createSymbolicLink(path, Path.of(text(header, 157, 100)));
            }
            case '0', 0 -> {
                Files.createDirectories(path.getParent());
                writeFile(tar, path, size);
                Files.setPosixFilePermissions(path, permissions(mode));
            }
            default -> throw new IOException("the archive has an entry of type " + (char) type);
        }
    }

    private static void writeFile(InputStream tar, Path path, long size) throws IOException {
        byte[] buffer = new byte[1 << 16];
        try (OutputStream file = Files.newOutputStream(path)) {
            long left = size;
            while (left > 0) {
                int count = tar.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (count < 0) {
                    throw new EOFException("the archive ends inside a file");
                }
                file.write(buffer, 0, count);
                left -= count;
            }
        }
        tar.skipNBytes(Math.floorMod(-size, (long) BLOCK));
    }

    private static Set<PosixFilePermission> permissions(int mode) {
        Set<PosixFilePermission> set = EnumSet.of(
                PosixFilePermission.OWNER_READ,
                PosixFilePermission.OWNER_WRITE,
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.OTHERS_READ);
        if ((mode & 0100) != 0) {
            set.add(PosixFilePermission.OWNER_EXECUTE);
            set.add(PosixFilePermission.GROUP_EXECUTE);
            set.add(PosixFilePermission.OTHERS_EXECUTE);
        }
        return set;
    }

    private static String text(byte[] header, int offset, int length) {
        int end = offset;
        while (end < offset + length && header[end] != 0) {
            end++;
        }
        return new String(header, offset, end - offset, StandardCharsets.UTF_8);
    }

    private static long octal(byte[] header, int offset, int length) {
        String digits = text(header, offset, length).trim();
        return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
    }
}
