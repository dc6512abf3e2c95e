package dev.pgapply.decoder;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// A message of PostgreSQL's `pgoutput` plug-in, protocol versions 1 to 4. One record per kind, components in
/// wire order.
///
/// Transaction ids and OIDs are unsigned 32-bit numbers in an `int`. Flag bytes that must be zero are checked
/// and dropped. Times are what the commit record says: of a transaction that was itself replicated, the
/// origin's.
///
/// @see <a href="https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html">Message
///     formats</a>
public sealed interface PgOutputMessage {

    /// What carries the id of its (sub)transaction in front when it is sent inside a stream block: see
    /// [Streamed].
    sealed interface Streamable extends PgOutputMessage {}

    /// `B`: a transaction follows whole, after its commit.
    ///
    /// @param finalLsn where the commit record begins, equal to [Commit#commitLsn()]
    record Begin(Lsn finalLsn, Instant commitTime, int xid) implements PgOutputMessage {}

    /// `C`.
    ///
    /// @param endLsn the first byte after the commit record
    record Commit(Lsn commitLsn, Lsn endLsn, Instant commitTime) implements PgOutputMessage {}

    /// `O`: the transaction that has just begun was itself replicated from elsewhere.
    ///
    /// @param commitLsn the position at that origin; `0/0` inside a stream block
    record Origin(Lsn commitLsn, String name) implements PgOutputMessage {}

    /// `R`: valid until the next one of the same OID.
    record RelationMessage(Relation relation) implements Streamable {}

    /// `Y`: names a type that is not built in; of a domain, the base type.
    record TypeMessage(int oid, String namespace, String name) implements Streamable {}

    /// `I`.
    record Insert(int relationOid, NewRow newRow) implements Streamable {}

    /// `U`.
    record Update(int relationOid, Optional<OldRow> oldRow, NewRow newRow) implements Streamable {}

    /// `D`.
    record Delete(int relationOid, OldRow oldRow) implements Streamable {}

    /// `T`: one statement that empties all these tables.
    record Truncate(boolean cascade, boolean restartIdentity, List<Integer> relationOids) implements Streamable {

        public Truncate {
            relationOids = List.copyOf(relationOids);
        }
    }

    /// `M`: written by `pg_logical_emit_message`. One that is not transactional comes outside of any
    /// transaction, even if the one that wrote it is rolled back.
    record LogicalMessage(boolean transactional, Lsn lsn, String prefix, Bytes content) implements Streamable {}

    /// `S`: a block of an open transaction begins.
    ///
    /// @param xid of the top-level transaction
    record StreamStart(int xid, boolean firstSegment) implements PgOutputMessage {}

    /// `E`: the block ends.
    record StreamStop() implements PgOutputMessage {}

    /// What stands between [StreamStart] and [StreamStop].
    ///
    /// @param xid the (sub)transaction that did it; for a [LogicalMessage] always the top-level one
    /// @param wire the whole message as it came: kind byte, xid, rest
    record Streamed(int xid, Streamable message, Bytes wire) implements PgOutputMessage {}

    /// `c`: a streamed transaction has committed.
    record StreamCommit(int xid, Lsn commitLsn, Lsn endLsn, Instant commitTime) implements PgOutputMessage {}

    /// `A`: a streamed transaction, or a subtransaction of it, was rolled back.
    ///
    /// @param subxid equal to `xid` if the whole transaction was
    /// @param abort where and when, sent only with `streaming = parallel`
    record StreamAbort(int xid, int subxid, Optional<Abort> abort) implements PgOutputMessage {

        public record Abort(Lsn lsn, Instant time) {}
    }

    /// `b`: a transaction follows that has been prepared.
    record BeginPrepare(Lsn prepareLsn, Lsn endLsn, Instant prepareTime, int xid, String gid)
            implements PgOutputMessage {}

    /// `P`: the end of what [BeginPrepare] began. The gid may be empty.
    record Prepare(Lsn prepareLsn, Lsn endLsn, Instant prepareTime, int xid, String gid) implements PgOutputMessage {}

    /// `K`.
    record CommitPrepared(Lsn commitLsn, Lsn endLsn, Instant commitTime, int xid, String gid)
            implements PgOutputMessage {}

    /// `r`.
    record RollbackPrepared(
            Lsn prepareEndLsn, Lsn rollbackEndLsn, Instant prepareTime, Instant rollbackTime, int xid, String gid)
            implements PgOutputMessage {}

    /// `p`: a streamed transaction has been prepared.
    record StreamPrepare(Lsn prepareLsn, Lsn endLsn, Instant prepareTime, int xid, String gid)
            implements PgOutputMessage {}
}
