package dev.pgapply.decoder;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// Turns the payload of one `XLogData` into one message. Knows nothing of tables or transactions; the only
/// state is whether a stream block is open, because there some messages carry a transaction id in front.
///
/// One per connection (a stream block does not survive it), used by one thread. Rows share the array they were
/// read from,
/// so an array that has been decoded must not be written again.
public final class PgOutputDecoder {

    private static final int CASCADE = 1;
    private static final int RESTART_IDENTITY = 2;
    private static final int LEAST_COLUMN_BYTES = 1 + 1 + 4 + 4;

    private boolean inStream;

    /// Reads the message that fills this slice exactly.
    ///
    /// @throws MalformedMessageException if it is not a message, or if a stream block begins or ends out of
    ///     turn; the decoder's state is then as before
    public PgOutputMessage decode(byte[] bytes, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        WireReader in = new WireReader(bytes, offset, length);
        PgOutputMessage message = message(in);
        in.finish();
        if (message instanceof PgOutputMessage.StreamStart) {
            inStream = true;
        } else if (message instanceof PgOutputMessage.StreamStop) {
            inStream = false;
        }
        return message;
    }

    private PgOutputMessage message(WireReader in) {
        byte tag = in.int8();
        return switch (tag) {
            case 'I', 'U', 'D', 'T', 'R', 'Y', 'M' -> inStream ? streamed(tag, in) : streamable(tag, in);
            case 'B' -> new PgOutputMessage.Begin(in.lsn(), in.time(), in.int32());
            case 'C' -> commit(in);
            case 'O' -> new PgOutputMessage.Origin(in.anyLsn(), in.string());
            case 'S' -> streamStart(in);
            case 'E' -> streamStop(in);
            case 'A' -> streamAbort(in);
            case 'c' -> streamCommit(in);
            case 'b' -> new PgOutputMessage.BeginPrepare(in.lsn(), in.lsn(), in.time(), in.int32(), in.string());
            case 'P' -> prepare(in);
            case 'p' -> streamPrepare(in);
            case 'K' -> commitPrepared(in);
            case 'r' -> rollbackPrepared(in);
            default -> throw in.malformed("unknown kind");
        };
    }

    private static PgOutputMessage.Streamed streamed(byte tag, WireReader in) {
        return new PgOutputMessage.Streamed(in.xid(), streamable(tag, in), in.message());
    }

    private static PgOutputMessage.Streamable streamable(byte tag, WireReader in) {
        return switch (tag) {
            case 'I' -> insert(in);
            case 'U' -> update(in);
            case 'D' -> new PgOutputMessage.Delete(in.int32(), oldRow(in.int8(), in));
            case 'T' -> truncate(in);
            case 'R' -> new PgOutputMessage.RelationMessage(relation(in));
            case 'Y' -> new PgOutputMessage.TypeMessage(in.int32(), namespace(in), in.string());
            case 'M' -> logicalMessage(in);
            default -> throw in.malformed("unknown kind");
        };
    }

    private static PgOutputMessage.Commit commit(WireReader in) {
        in.flags(0);
        return new PgOutputMessage.Commit(in.lsn(), in.lsn(), in.time());
    }

    private static PgOutputMessage.Insert insert(WireReader in) {
        return new PgOutputMessage.Insert(in.int32(), newRow(in.int8(), in));
    }

    private static PgOutputMessage.Update update(WireReader in) {
        int relationOid = in.int32();
        byte part = in.int8();
        if (part == 'N') {
            return new PgOutputMessage.Update(relationOid, Optional.empty(), newRow(part, in));
        }
        return new PgOutputMessage.Update(relationOid, Optional.of(oldRow(part, in)), newRow(in.int8(), in));
    }

    private static NewRow newRow(byte part, WireReader in) {
        if (part != 'N') {
            throw in.malformed("a new row is announced by 0x%02X".formatted(part));
        }
        Row row = in.row();
        return row.hasUnchanged() ? new NewRow.Partial(row) : new NewRow.Full(row);
    }

    private static OldRow oldRow(byte part, WireReader in) {
        if (part != 'K' && part != 'O') {
            throw in.malformed("an old row is announced by 0x%02X".formatted(part));
        }
        Row row = in.row();
        if (row.hasUnchanged()) {
            throw in.malformed("an old row has an unchanged value");
        }
        return part == 'K' ? new OldRow.Key(row) : new OldRow.Full(row);
    }

    private static PgOutputMessage.Truncate truncate(WireReader in) {
        int announced = in.int32();
        int flags = in.flags(CASCADE | RESTART_IDENTITY);
        int count = in.count(announced, 4);
        List<Integer> oids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            oids.add(in.int32());
        }
        return new PgOutputMessage.Truncate((flags & CASCADE) != 0, (flags & RESTART_IDENTITY) != 0, oids);
    }

    private static Relation relation(WireReader in) {
        int oid = in.int32();
        TableName name = new TableName(namespace(in), in.string());
        ReplicaIdentity identity = identity(in);
        int count = in.count(in.unsigned16(), LEAST_COLUMN_BYTES);
        List<Relation.Column> columns = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            columns.add(new Relation.Column(in.flags(1) == 1, in.string(), in.int32(), in.int32()));
        }
        return new Relation(oid, name, identity, columns);
    }

    private static ReplicaIdentity identity(WireReader in) {
        byte identity = in.int8();
        return switch (identity) {
            case 'd' -> ReplicaIdentity.DEFAULT;
            case 'n' -> ReplicaIdentity.NOTHING;
            case 'f' -> ReplicaIdentity.FULL;
            case 'i' -> ReplicaIdentity.INDEX;
            default -> throw in.malformed("unknown replica identity 0x%02X".formatted(identity));
        };
    }

    /// The server leaves the name of its own schema out.
    private static String namespace(WireReader in) {
        String namespace = in.string();
        return namespace.isEmpty() ? "pg_catalog" : namespace;
    }

    private static PgOutputMessage.LogicalMessage logicalMessage(WireReader in) {
        return new PgOutputMessage.LogicalMessage(in.flags(1) == 1, in.anyLsn(), in.string(), in.bytes(in.int32()));
    }

    private PgOutputMessage.StreamStart streamStart(WireReader in) {
        if (inStream) {
            throw in.malformed("a stream block is open");
        }
        return new PgOutputMessage.StreamStart(in.xid(), in.flags(1) == 1);
    }

    private PgOutputMessage.StreamStop streamStop(WireReader in) {
        if (!inStream) {
            throw in.malformed("no stream block is open");
        }
        return new PgOutputMessage.StreamStop();
    }

    private static PgOutputMessage.StreamCommit streamCommit(WireReader in) {
        int xid = in.xid();
        in.flags(0);
        return new PgOutputMessage.StreamCommit(xid, in.lsn(), in.lsn(), in.time());
    }

    /// Position and time are there with `streaming = parallel` only, whatever the protocol version, so their
    /// presence is
    /// read from the size.
    private static PgOutputMessage.StreamAbort streamAbort(WireReader in) {
        int xid = in.xid();
        int subxid = in.xid();
        return new PgOutputMessage.StreamAbort(
                xid,
                subxid,
                in.remaining() == 0
                        ? Optional.empty()
                        : Optional.of(new PgOutputMessage.StreamAbort.Abort(in.anyLsn(), in.time())));
    }

    private static PgOutputMessage.Prepare prepare(WireReader in) {
        in.flags(0);
        return new PgOutputMessage.Prepare(in.lsn(), in.lsn(), in.time(), in.int32(), in.string());
    }

    private static PgOutputMessage.StreamPrepare streamPrepare(WireReader in) {
        in.flags(0);
        return new PgOutputMessage.StreamPrepare(in.lsn(), in.lsn(), in.time(), in.xid(), in.string());
    }

    private static PgOutputMessage.CommitPrepared commitPrepared(WireReader in) {
        in.flags(0);
        return new PgOutputMessage.CommitPrepared(in.lsn(), in.lsn(), in.time(), in.int32(), in.string());
    }

    private static PgOutputMessage.RollbackPrepared rollbackPrepared(WireReader in) {
        in.flags(0);
        return new PgOutputMessage.RollbackPrepared(in.lsn(), in.lsn(), in.time(), in.time(), in.int32(), in.string());
    }
}
