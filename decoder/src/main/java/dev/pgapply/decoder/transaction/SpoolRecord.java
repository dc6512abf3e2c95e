package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// How a message is spooled: its length and CRC-32C, 32 bits each, then the message without the transaction id
/// that it had because it was streamed. So what is read back is the ordinary message.
final class SpoolRecord {

    static final int HEADER_BYTES = 8;
    /// Of the streamed message: kind and transaction id.
    private static final int STREAMED_HEAD_BYTES = 5;

    private SpoolRecord() {}

    static int sizeOf(Bytes wire) {
        return HEADER_BYTES + 1 + wire.length() - STREAMED_HEAD_BYTES;
    }

    static void put(Bytes wire, ByteBuffer out) {
        out.put(head(wire)).put(tail(wire));
    }

    static void write(Bytes wire, OutputStream out) throws IOException {
        out.write(head(wire));
        out.write(wire.array(), wire.offset() + STREAMED_HEAD_BYTES, wire.length() - STREAMED_HEAD_BYTES);
    }

    /// Length, checksum and kind.
    private static byte[] head(Bytes wire) {
        byte tag = wire.at(0);
        CRC32C crc = new CRC32C();
        crc.update(tag);
        crc.update(tail(wire));
        return ByteBuffer.allocate(HEADER_BYTES + 1)
                .putInt(sizeOf(wire) - HEADER_BYTES)
                .putInt((int) crc.getValue())
                .put(tag)
                .array();
    }

    /// What comes after the transaction id.
    private static ByteBuffer tail(Bytes wire) {
        return ByteBuffer.wrap(wire.array(), wire.offset() + STREAMED_HEAD_BYTES, wire.length() - STREAMED_HEAD_BYTES);
    }

    static boolean isIntact(byte[] bytes, int offset, int length, int checksum) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, offset, length);
        return (int) crc.getValue() == checksum;
    }
}
