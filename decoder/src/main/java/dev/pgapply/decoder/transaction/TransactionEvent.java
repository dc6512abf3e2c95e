package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.Lsn;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/// One step of the stream of committed transactions, in commit order.
///
/// A transaction is `Begin · (Change | Message)* · Commit`, a prepared one `Begin · (Change | Message)* ·
/// Prepare` and, perhaps hours and connections later, [CommitPrepared] or [RollbackPrepared]. Transactions
/// never interleave. A [Message] that is not transactional stands between them. One that was kept until its end
/// was known is a single [Kept] instead, which has these events in it. What an [OpenTransaction] tells comes
/// before, and in addition.
///
/// Events are immutable. Transaction ids are unsigned.
public sealed interface TransactionEvent
        permits TransactionEvent.Begin,
                TransactionEvent.Commit,
                TransactionEvent.Prepare,
                TransactionEvent.CommitPrepared,
                TransactionEvent.RollbackPrepared,
                TransactionEvent.Message,
                TransactionEvent.Kept,
                OpenTransaction,
                Change {

    /// About how much heap the event keeps reachable, relations not counted since changes share them. For a
    /// queue that is bounded in bytes.
    long retainedBytes();

    /// A transaction begins.
    ///
    /// @param finalLsn where the commit record begins (of a prepared transaction the prepare record): the
    ///     position that decides whether the transaction is new to a table
    /// @param origin the replication origin that the source has applied it from
    /// @param gid present if the transaction is only prepared, and then possibly the empty text
    record Begin(int xid, Lsn finalLsn, Instant commitTime, Optional<String> origin, Optional<String> gid)
            implements TransactionEvent {

        public boolean prepared() {
            return gid.isPresent();
        }

        @Override
        public long retainedBytes() {
            return 128;
        }
    }

    /// The transaction is complete.
    ///
    /// @param commitLsn equal to the [Begin#finalLsn()] of the transaction
    /// @param endLsn the first byte after the commit record: progress once the transaction is applied
    record Commit(Lsn commitLsn, Lsn endLsn, Instant commitTime) implements TransactionEvent {

        @Override
        public long retainedBytes() {
            return 80;
        }
    }

    /// The transaction stays open, under its gid, until the source decides it.
    record Prepare(int xid, String gid, Lsn prepareLsn, Lsn endLsn, Instant prepareTime) implements TransactionEvent {

        @Override
        public long retainedBytes() {
            return 112;
        }
    }

    /// The transaction may be one that this stream has never carried, if it was prepared before the slot
    /// existed.
    record CommitPrepared(int xid, String gid, Lsn commitLsn, Lsn endLsn, Instant commitTime)
            implements TransactionEvent {

        @Override
        public long retainedBytes() {
            return 112;
        }
    }

    /// The transaction may be unknown, as for [CommitPrepared].
    ///
    /// @param prepareEndLsn the [Prepare#endLsn()] of what is rolled back, to tell it from a namesake
    record RollbackPrepared(
            int xid, String gid, Lsn prepareEndLsn, Lsn rollbackEndLsn, Instant prepareTime, Instant rollbackTime)
            implements TransactionEvent {

        @Override
        public long retainedBytes() {
            return 144;
        }
    }

    /// Written by `pg_logical_emit_message`. A transactional one of a streamed transaction may survive the
    /// rollback of the savepoint it was sent under: the protocol does not say which one that is.
    record Message(boolean transactional, Lsn lsn, String prefix, Bytes content) implements TransactionEvent {

        @Override
        public long retainedBytes() {
            return 144L + 2L * prefix.length() + content.length();
        }
    }

    /// A whole transaction, which was kept until its end was known. Whoever takes it owns what is kept, and either
    /// reads it or discards it, once, on one thread.
    ///
    /// @param end [Commit] or [Prepare]
    /// @param endLsn that of the end
    /// @param parts the changes and messages between the two
    record Kept(Begin begin, TransactionEvent end, Lsn endLsn, KeptParts parts) implements TransactionEvent {

        /// Hands out all its events in order.
        ///
        /// @throws SpoolException if what was kept cannot be read back; some were handed out then
        public void forEach(Consumer<? super TransactionEvent> out) {
            out.accept(begin);
            parts.read(out);
            out.accept(end);
        }

        @Override
        public long retainedBytes() {
            return 512;
        }
    }
}
