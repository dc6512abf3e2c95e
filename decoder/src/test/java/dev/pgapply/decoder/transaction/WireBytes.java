package dev.pgapply.decoder.transaction;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Makes messages for tests that need more of them, or others, than were captured.
final class WireBytes {

    private final ByteBuffer out = ByteBuffer.allocate(4096);

    private WireBytes(char tag) {
        out.put((byte) tag);
    }

    static byte[] streamStart(int xid, boolean first) {
        return new WireBytes('S').int32(xid).int8(first ? 1 : 0).done();
    }

    static byte[] streamStop() {
        return new WireBytes('E').done();
    }

    static byte[] streamCommit(int xid, long lsn) {
        return new WireBytes('c')
                .int32(xid)
                .int8(0)
                .int64(lsn)
                .int64(lsn + 1)
                .int64(0)
                .done();
    }

    static byte[] streamAbort(int xid, int subxid) {
        return new WireBytes('A').int32(xid).int32(subxid).done();
    }

    static byte[] streamPrepare(int xid, long lsn, String gid) {
        return prepared('p', xid, lsn, gid);
    }

    static byte[] commitPrepared(int xid, long lsn, String gid) {
        return prepared('K', xid, lsn, gid);
    }

    private static byte[] prepared(char tag, int xid, long lsn, String gid) {
        return new WireBytes(tag)
                .int8(0)
                .int64(lsn)
                .int64(lsn + 1)
                .int64(0)
                .int32(xid)
                .string(gid)
                .done();
    }

    static byte[] beginPrepare(int xid, long lsn, String gid) {
        return new WireBytes('b')
                .int64(lsn)
                .int64(lsn + 1)
                .int64(0)
                .int32(xid)
                .string(gid)
                .done();
    }

    static byte[] prepare(int xid, long lsn, String gid) {
        return prepared('P', xid, lsn, gid);
    }

    static byte[] rollbackPrepared(int xid, long prepareEndLsn, long lsn, String gid) {
        return new WireBytes('r')
                .int8(0)
                .int64(prepareEndLsn)
                .int64(lsn)
                .int64(0)
                .int64(0)
                .int32(xid)
                .string(gid)
                .done();
    }

    static byte[] origin(String name) {
        return new WireBytes('O').int64(1).string(name).done();
    }

    static byte[] begin(int xid, long lsn) {
        return new WireBytes('B').int64(lsn).int64(0).int32(xid).done();
    }

    static byte[] commit(long lsn) {
        return new WireBytes('C').int8(0).int64(lsn).int64(lsn + 1).int64(0).done();
    }

    /// A table of one text column.
    ///
    /// @param xid 0 outside of stream blocks, here and below
    static byte[] relation(int xid, int oid, String name) {
        return new WireBytes('R')
                .xid(xid)
                .int32(oid)
                .string("public")
                .string(name)
                .int8('d')
                .int16(1)
                .int8(1)
                .string("v")
                .int32(25)
                .int32(-1)
                .done();
    }

    static byte[] insert(int xid, int oid, String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        ByteBuffer large = ByteBuffer.allocate(64 + text.length).put((byte) 'I');
        if (xid != 0) {
            large.putInt(xid);
        }
        large.putInt(oid)
                .put((byte) 'N')
                .putShort((short) 1)
                .put((byte) 't')
                .putInt(text.length)
                .put(text);
        byte[] bytes = new byte[large.position()];
        large.flip().get(bytes);
        return bytes;
    }

    private WireBytes xid(int xid) {
        return xid == 0 ? this : int32(xid);
    }

    private WireBytes int8(int value) {
        out.put((byte) value);
        return this;
    }

    private WireBytes int16(int value) {
        out.putShort((short) value);
        return this;
    }

    private WireBytes int32(int value) {
        out.putInt(value);
        return this;
    }

    private WireBytes int64(long value) {
        out.putLong(value);
        return this;
    }

    private WireBytes string(String value) {
        out.put(value.getBytes(StandardCharsets.UTF_8)).put((byte) 0);
        return this;
    }

    private byte[] done() {
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }
}
