package dev.pgapply.apply.engine;

import dev.pgapply.apply.engine.SimulatedSource.Inserted;
import dev.pgapply.apply.engine.SimulatedSource.Transaction;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The pgoutput messages of a simulated source.
final class SimulatedMessages {

    private static final List<TableName> TABLES = SimulatedSource.TABLES;

    private SimulatedMessages() {}

    static byte[] begin(Transaction transaction) {
        return ByteBuffer.allocate(21)
                .put((byte) 'B')
                .putLong(transaction.finalLsn().value())
                .putLong(0)
                .putInt(transaction.xid())
                .array();
    }

    static byte[] commit(Transaction transaction) {
        return ByteBuffer.allocate(26)
                .put((byte) 'C')
                .put((byte) 0)
                .putLong(transaction.finalLsn().value())
                .putLong(transaction.endLsn().value())
                .putLong(0)
                .array();
    }

    static byte[] streamStart(int xid, boolean first) {
        return ByteBuffer.allocate(6)
                .put((byte) 'S')
                .putInt(xid)
                .put((byte) (first ? 1 : 0))
                .array();
    }

    static byte[] streamStop() {
        return new byte[] {'E'};
    }

    static byte[] streamAbort(int xid, int subxid) {
        return ByteBuffer.allocate(9).put((byte) 'A').putInt(xid).putInt(subxid).array();
    }

    static byte[] streamCommit(Transaction transaction) {
        return ByteBuffer.allocate(30)
                .put((byte) 'c')
                .putInt(transaction.xid())
                .put((byte) 0)
                .putLong(transaction.finalLsn().value())
                .putLong(transaction.endLsn().value())
                .putLong(0)
                .array();
    }

    static byte[] beginPrepare(Transaction transaction) {
        byte[] gid = gid(transaction);
        return ByteBuffer.allocate(1 + 8 + 8 + 8 + 4 + gid.length)
                .put((byte) 'b')
                .putLong(transaction.prepareLsn().value())
                .putLong(transaction.prepareEndLsn().value())
                .putLong(0)
                .putInt(transaction.xid())
                .put(gid)
                .array();
    }

    static byte[] prepare(Transaction transaction) {
        return ended('P', transaction, transaction.prepareLsn(), transaction.prepareEndLsn());
    }

    static byte[] streamPrepare(Transaction transaction) {
        return ended('p', transaction, transaction.prepareLsn(), transaction.prepareEndLsn());
    }

    static byte[] commitPrepared(Transaction transaction) {
        return ended('K', transaction, transaction.finalLsn(), transaction.endLsn());
    }

    private static byte[] ended(char kind, Transaction transaction, Lsn lsn, Lsn endLsn) {
        byte[] gid = gid(transaction);
        return ByteBuffer.allocate(1 + 1 + 8 + 8 + 8 + 4 + gid.length)
                .put((byte) kind)
                .put((byte) 0)
                .putLong(lsn.value())
                .putLong(endLsn.value())
                .putLong(0)
                .putInt(transaction.xid())
                .put(gid)
                .array();
    }

    static byte[] rollbackPrepared(Transaction transaction) {
        byte[] gid = gid(transaction);
        return ByteBuffer.allocate(1 + 1 + 8 + 8 + 8 + 8 + 4 + gid.length)
                .put((byte) 'r')
                .put((byte) 0)
                .putLong(transaction.prepareEndLsn().value())
                .putLong(transaction.endLsn().value())
                .putLong(0)
                .putLong(0)
                .putInt(transaction.xid())
                .put(gid)
                .array();
    }

    private static byte[] gid(Transaction transaction) {
        return ("gid " + transaction.xid() + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /// @param xid of the subtransaction inside a stream block, 0 outside of one
    static byte[] relation(int xid, TableName table) {
        byte[] schema = table.schema().getBytes(StandardCharsets.UTF_8);
        byte[] name = table.name().getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(
                        1 + xidBytes(xid) + 4 + schema.length + 1 + name.length + 1 + 1 + 2 + 1 + 2 + 4 + 4)
                .put((byte) 'R');
        return putXid(xid, out)
                .putInt(TABLES.indexOf(table))
                .put(schema)
                .put((byte) 0)
                .put(name)
                .put((byte) 0)
                .put((byte) 'd')
                .putShort((short) 1)
                .put((byte) 1)
                .put((byte) 'v')
                .put((byte) 0)
                .putInt(25)
                .putInt(-1)
                .array();
    }

    static byte[] insert(int xid, Inserted row) {
        byte[] value = row.value().getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(1 + xidBytes(xid) + 4 + 1 + 2 + 1 + 4 + value.length)
                .put((byte) 'I');
        return putXid(xid, out)
                .putInt(TABLES.indexOf(row.table()))
                .put((byte) 'N')
                .putShort((short) 1)
                .put((byte) 't')
                .putInt(value.length)
                .put(value)
                .array();
    }

    private static int xidBytes(int xid) {
        return xid == 0 ? 0 : Integer.BYTES;
    }

    private static ByteBuffer putXid(int xid, ByteBuffer out) {
        return xid == 0 ? out : out.putInt(xid);
    }
}
