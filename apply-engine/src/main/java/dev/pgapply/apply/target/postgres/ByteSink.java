package dev.pgapply.apply.target.postgres;

import java.util.Arrays;

/// Bytes that are put together for one parameter. The memory is used again, unless it has become large.
final class ByteSink {

    private static final int FIRST_CAPACITY = 8 * 1024;
    private static final int KEPT_CAPACITY = 512 * 1024;

    private byte[] bytes = new byte[FIRST_CAPACITY];
    private int length;

    /// Begins anew, behind room for a header.
    void begin(int headerBytes) {
        length = headerBytes;
    }

    byte[] array() {
        return bytes;
    }

    int length() {
        return length;
    }

    void int8(int value) {
        ensure(1);
        bytes[length++] = (byte) value;
    }

    void int32(int value) {
        ensure(4);
        length += 4;
        int32At(length - 4, value);
    }

    void int32At(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    void bytes(byte[] source, int offset, int count) {
        ensure(count);
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
    }

    void release() {
        if (bytes.length > KEPT_CAPACITY) {
            bytes = new byte[FIRST_CAPACITY];
        }
    }

    private void ensure(int more) {
        if (more > bytes.length - length) {
            bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.max(2L * bytes.length, (long) length + more)));
        }
    }
}
