package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputMessage;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Puts messages together to the stream of [TransactionEvent]s.
///
/// A transaction that comes after its commit flows through while it is received, so its size does not matter. Its
/// [TransactionEvent.Begin] is held back until the message after it, which may name the origin.
///
/// One per connection, used by one thread; after an exception it must not be used again.
public final class TransactionAssembler {

    private final RelationCache relations = new RelationCache();
    /// The transaction between its first and its last message, if one is open.
    private @Nullable OpenTransaction open;
    /// The open transaction's begin while it can still learn of an origin.
    private TransactionEvent.@Nullable Begin held;

    private record OpenTransaction(int xid, Lsn finalLsn, Optional<String> gid) {}

    /// Takes the next message and hands out the events that it completes, none or several.
    ///
    /// @throws UnexpectedMessageException if the message has no place here
    public void accept(PgOutputMessage message, Consumer<? super TransactionEvent> out) {
        switch (message) {
            case PgOutputMessage.Insert insert -> change(insert(insert), out);
            case PgOutputMessage.Update update -> change(update(update), out);
            case PgOutputMessage.Delete delete -> change(delete(delete), out);
            case PgOutputMessage.Truncate truncate -> change(truncate(truncate), out);
            case PgOutputMessage.RelationMessage description -> relations.put(description.relation());
            case PgOutputMessage.TypeMessage ignored -> {
                // Values are mapped by the type's OID and the target's catalog; the name adds nothing.
            }
            case PgOutputMessage.LogicalMessage logical -> logicalMessage(logical, out);
            case PgOutputMessage.Begin begin -> begin(begin);
            case PgOutputMessage.Origin origin -> origin(origin, out);
            case PgOutputMessage.Commit commit -> commit(commit, out);
            case PgOutputMessage.BeginPrepare begin -> beginPrepare(begin);
            case PgOutputMessage.Prepare prepare -> prepare(prepare, out);
            case PgOutputMessage.CommitPrepared commit -> {
                outside("COMMIT PREPARED");
                out.accept(new TransactionEvent.CommitPrepared(
                        commit.xid(), commit.gid(), commit.commitLsn(), commit.endLsn(), commit.commitTime()));
            }
            case PgOutputMessage.RollbackPrepared rollback -> {
                outside("ROLLBACK PREPARED");
                out.accept(new TransactionEvent.RollbackPrepared(
                        rollback.xid(),
                        rollback.gid(),
                        rollback.prepareEndLsn(),
                        rollback.rollbackEndLsn(),
                        rollback.prepareTime(),
                        rollback.rollbackTime()));
            }
            case PgOutputMessage.StreamStart ignored -> throw streamed();
            case PgOutputMessage.StreamStop ignored -> throw streamed();
            case PgOutputMessage.Streamed ignored -> throw streamed();
            case PgOutputMessage.StreamCommit ignored -> throw streamed();
            case PgOutputMessage.StreamPrepare ignored -> throw streamed();
            case PgOutputMessage.StreamAbort ignored -> {
                // PostgreSQL 18 sends it for subtransactions of transactions that were never streamed.
            }
        }
    }

    private void begin(PgOutputMessage.Begin begin) {
        outside("a transaction's begin");
        open = new OpenTransaction(begin.xid(), begin.finalLsn(), Optional.empty());
        held = new TransactionEvent.Begin(
                begin.xid(), begin.finalLsn(), begin.commitTime(), Optional.empty(), Optional.empty());
    }

    private void beginPrepare(PgOutputMessage.BeginPrepare begin) {
        outside("a prepared transaction's begin");
        Optional<String> gid = Optional.of(begin.gid());
        open = new OpenTransaction(begin.xid(), begin.prepareLsn(), gid);
        held = new TransactionEvent.Begin(begin.xid(), begin.prepareLsn(), begin.prepareTime(), Optional.empty(), gid);
    }

    private void origin(PgOutputMessage.Origin origin, Consumer<? super TransactionEvent> out) {
        TransactionEvent.Begin begin = held;
        if (begin == null) {
            throw new UnexpectedMessageException("an origin does not follow a transaction's begin");
        }
        held = null;
        out.accept(new TransactionEvent.Begin(
                begin.xid(), begin.finalLsn(), begin.commitTime(), Optional.of(origin.name()), begin.gid()));
    }

    private void commit(PgOutputMessage.Commit commit, Consumer<? super TransactionEvent> out) {
        OpenTransaction transaction = inside("a commit");
        if (transaction.gid().isPresent() || !transaction.finalLsn().equals(commit.commitLsn())) {
            throw new UnexpectedMessageException("a commit at %s ends the transaction begun for %s"
                    .formatted(commit.commitLsn(), transaction.finalLsn()));
        }
        release(out);
        open = null;
        out.accept(new TransactionEvent.Commit(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
    }

    private void prepare(PgOutputMessage.Prepare prepare, Consumer<? super TransactionEvent> out) {
        OpenTransaction transaction = inside("a prepare");
        if (!transaction.gid().equals(Optional.of(prepare.gid()))
                || transaction.xid() != prepare.xid()
                || !transaction.finalLsn().equals(prepare.prepareLsn())) {
            throw new UnexpectedMessageException("a prepare at %s ends the transaction begun for %s"
                    .formatted(prepare.prepareLsn(), transaction.finalLsn()));
        }
        release(out);
        open = null;
        out.accept(new TransactionEvent.Prepare(
                prepare.xid(), prepare.gid(), prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime()));
    }

    private void logicalMessage(PgOutputMessage.LogicalMessage logical, Consumer<? super TransactionEvent> out) {
        if (logical.transactional()) {
            inside("a transactional message");
            release(out);
        } else {
            outside("a message that is not transactional");
        }
        out.accept(new TransactionEvent.Message(
                logical.transactional(), logical.lsn(), logical.prefix(), logical.content()));
    }

    private void change(Change change, Consumer<? super TransactionEvent> out) {
        inside("a change");
        release(out);
        out.accept(change);
    }

    private Change insert(PgOutputMessage.Insert insert) {
        Relation relation = relations.get(insert.relationOid());
        checkWidth(relation, insert.newRow().row());
        return new Change.Insert(relation, insert.newRow());
    }

    private Change update(PgOutputMessage.Update update) {
        Relation relation = relations.get(update.relationOid());
        checkWidth(relation, update.newRow().row());
        if (update.oldRow().isPresent()) {
            checkWidth(relation, update.oldRow().get().row());
        }
        return new Change.Update(relation, update.oldRow(), update.newRow());
    }

    private Change delete(PgOutputMessage.Delete delete) {
        Relation relation = relations.get(delete.relationOid());
        checkWidth(relation, delete.oldRow().row());
        return new Change.Delete(relation, delete.oldRow());
    }

    private Change truncate(PgOutputMessage.Truncate truncate) {
        List<Relation> tables = new ArrayList<>();
        for (int oid : truncate.relationOids()) {
            tables.add(relations.get(oid));
        }
        return new Change.Truncate(tables, truncate.cascade(), truncate.restartIdentity());
    }

    private static void checkWidth(Relation relation, Row row) {
        if (row.columnCount() != relation.columns().size()) {
            throw new UnexpectedMessageException("a row of %s has %d values for %d columns"
                    .formatted(
                            relation.name(),
                            row.columnCount(),
                            relation.columns().size()));
        }
    }

    private void release(Consumer<? super TransactionEvent> out) {
        TransactionEvent.Begin begin = held;
        if (begin != null) {
            held = null;
            out.accept(begin);
        }
    }

    private OpenTransaction inside(String what) {
        OpenTransaction transaction = open;
        if (transaction == null) {
            throw new UnexpectedMessageException(what + " comes outside of a transaction");
        }
        return transaction;
    }

    private void outside(String what) {
        OpenTransaction transaction = open;
        if (transaction != null) {
            throw new UnexpectedMessageException(
                    "%s comes inside the transaction begun for %s".formatted(what, transaction.finalLsn()));
        }
    }

    private static UnexpectedMessageException streamed() {
        return new UnexpectedMessageException("streaming was not asked for");
    }
}
