package dev.pgapply.decoder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/// Reads one message from front to back. The only code that moves an offset: every read checks what is left
/// first.
final class WireReader {

    private static final VarHandle INT16 = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN)
            .withInvokeExactBehavior();
    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN)
            .withInvokeExactBehavior();
    private static final VarHandle INT64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN)
            .withInvokeExactBehavior();

    /// 2000-01-01 00:00 UTC, from which the server counts microseconds.
    private static final long EPOCH_SECONDS = 946_684_800;

    private static final int MICROS_PER_SECOND = 1_000_000;

    private final byte[] bytes;
    private final int start;
    private final int end;
    private int at;

    WireReader(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.start = offset;
        this.end = offset + length;
        this.at = offset;
    }

    int remaining() {
        return end - at;
    }

    byte int8() {
        need(1);
        return bytes[at++];
    }

    int unsigned16() {
        need(2);
        int value = (short) INT16.get(bytes, at) & 0xFFFF;
        at += 2;
        return value;
    }

    int int32() {
        need(4);
        int value = (int) INT32.get(bytes, at);
        at += 4;
        return value;
    }

    private long int64() {
        need(8);
        long value = (long) INT64.get(bytes, at);
        at += 8;
        return value;
    }

    /// A position that may be `0/0`.
    Lsn anyLsn() {
        return new Lsn(int64());
    }

    /// A position that others are compared with, so `0/0` is an error, as it is for the server's own
    /// subscriber.
    Lsn lsn() {
        Lsn lsn = anyLsn();
        if (!lsn.isValid()) {
            throw malformed("a position is 0/0");
        }
        return lsn;
    }

    /// Microseconds since 2000; every 64-bit number is an instant.
    Instant time() {
        long micros = int64();
        return Instant.ofEpochSecond(
                EPOCH_SECONDS + Math.floorDiv(micros, MICROS_PER_SECOND),
                Math.floorMod(micros, MICROS_PER_SECOND) * 1000L);
    }

    /// The id of a transaction that exists.
    int xid() {
        int xid = int32();
        if (xid == 0) {
            throw malformed("a transaction id is 0");
        }
        return xid;
    }

    /// Text up to a NUL byte.
    String string() {
        int nul = at;
        while (nul < end && bytes[nul] != 0) {
            nul++;
        }
        if (nul == end) {
            throw malformed("a string has no end");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, at, nul - at))
                    .toString();
            at = nul + 1;
            return text;
        } catch (CharacterCodingException e) {
            throw malformed("a string is not UTF-8");
        }
    }

    /// Reads a flag byte in which only these bits are defined.
    int flags(int defined) {
        int flags = int8();
        if ((flags & ~defined) != 0) {
            throw malformed("undefined flags 0x%02X".formatted(flags & 0xFF));
        }
        return flags;
    }

    /// Confirms that so many entries can follow at all, before anything is allocated for them.
    int count(int entries, int leastBytesEach) {
        if (entries < 0 || (long) entries * leastBytesEach > remaining()) {
            throw malformed(
                    "%d entries of at least %d bytes do not fit in %d".formatted(entries, leastBytesEach, remaining()));
        }
        return entries;
    }

    /// A slice that shares the message's array.
    Bytes bytes(int length) {
        need(length);
        Bytes slice = new Bytes(bytes, at, length);
        at += length;
        return slice;
    }

    /// The message as a whole, wherever reading has come to.
    Bytes message() {
        return new Bytes(bytes, start, end - start);
    }

    /// `TupleData`: the count, then a kind byte per column and, for values that were sent, length and bytes.
    Row row() {
        int first = at;
        int[] kindOffsets = new int[count(unsigned16(), 1)];
        boolean unchanged = false;
        for (int i = 0; i < kindOffsets.length; i++) {
            kindOffsets[i] = at;
            byte kind = int8();
            switch (kind) {
                case Row.NULL -> {}
                case Row.UNCHANGED -> unchanged = true;
                case Row.TEXT, Row.BINARY -> skip(int32());
                default -> throw malformed("unknown kind of value 0x%02X".formatted(kind));
            }
        }
        return new Row(bytes, first, at, kindOffsets, unchanged);
    }

    /// Everything must have been read.
    void finish() {
        if (at != end) {
            throw malformed("%d bytes are left over".formatted(remaining()));
        }
    }

    MalformedMessageException malformed(String reason) {
        return new MalformedMessageException(reason, start < end ? bytes[start] : 0, at - start, end - start);
    }

    private void skip(int length) {
        need(length);
        at += length;
    }

    private void need(int length) {
        if (length < 0 || length > end - at) {
            throw malformed("%d bytes are needed, %d are left".formatted(length, end - at));
        }
    }
}
