package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputMessage;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Puts messages together to the stream of [TransactionEvent]s.
///
/// A transaction that comes after its commit flows through while it is received, so its size does not matter.
/// Its [TransactionEvent.Begin] is held back until the message after it, which may name the origin.
///
/// A streamed transaction is spooled until its commit or prepare, and what was rolled back of it is removed;
/// then it is handed out as one piece. A prepared one may have to wait for its decision; then it comes like one
/// that was never prepared, and until then [#heldFrom(Lsn)] says what must not be confirmed to the source.
///
/// One per connection, used by one thread; what it has handed out may go to another. After an exception, its own or
/// that of the consumer, it can only be
/// closed, and a transaction of which no end was handed out has to be discarded.
public final class TransactionAssembler implements AutoCloseable {

    private final RelationCache relations = new RelationCache();
    private final ChangeResolver changes = new ChangeResolver(relations);
    /// Null if streaming is not asked for.
    private final @Nullable OpenStreams streams;

    private final PreparedHold hold;

    /// The transaction between its first and its last message, if one is open.
    private @Nullable Unfinished open;
    /// The open transaction's begin while it can still learn of an origin.
    private TransactionEvent.@Nullable Begin held;
    /// The open transaction if it is to be kept until its decision.
    private PreparedHold.@Nullable Transaction kept;

    private long ignoredAborts;

    private record Unfinished(int xid, Lsn finalLsn, Optional<String> gid) {}

    /// For a stream without `streaming`; a stream block is then an error.
    public TransactionAssembler() {
        streams = null;
        hold = new PreparedHold(Lsn.INVALID);
    }

    /// For a stream with `streaming`, `on` or `parallel`, or with `two_phase`. Removes files that a killed
    /// process has left in the directory.
    ///
    /// @param holdPreparedBefore transactions whose prepare record begins before it are handed out when they
    ///     are committed, not when they are prepared
    /// @param early which transactions are told of while they are open
    /// @param fullDisk asked whenever a file cannot grow, on the thread that uses the assembler
    /// @throws SpoolException.Unusable if the directory is not usable
    public TransactionAssembler(
            SpoolSettings settings, Lsn holdPreparedBefore, EarlyDelivery early, FullDisk fullDisk) {
        streams = new OpenStreams(settings, early, fullDisk, relations);
        hold = new PreparedHold(holdPreparedBefore);
    }

    /// Takes the next message and hands out the events that it completes: none, one, or two.
    ///
    /// @param bytes what the message was decoded from, `length` of them from `offset` on
    /// @throws UnexpectedMessageException if the message has no place here
    /// @throws SpoolException if a transaction cannot be kept, or cannot be read back
    public void accept(
            PgOutputMessage message, byte[] bytes, int offset, int length, Consumer<? super TransactionEvent> out) {
        PreparedHold.Transaction keeping = kept;
        switch (message) {
            case PgOutputMessage.Streamable part when keeping != null -> keep(keeping, part, bytes, offset, length);
            case PgOutputMessage.Streamable part -> part(part, out);
            case PgOutputMessage.Begin begin ->
                begin("a transaction's begin", begin.xid(), begin.finalLsn(), begin.commitTime(), Optional.empty());
            case PgOutputMessage.BeginPrepare begin -> beginPrepare(begin);
            case PgOutputMessage.Origin origin -> origin(origin, out);
            case PgOutputMessage.Commit commit -> commit(commit, out);
            case PgOutputMessage.Prepare prepare -> prepare(prepare, out);
            case PgOutputMessage.CommitPrepared commit -> commitPrepared(commit, out);
            case PgOutputMessage.RollbackPrepared rollback -> rollbackPrepared(rollback, out);
            case PgOutputMessage.StreamStart start -> {
                outside("a stream block");
                streams().start(start);
            }
            case PgOutputMessage.Streamed streamed -> {
                OpenTransaction.Part told = streams().append(streamed);
                if (told != null) {
                    out.accept(told);
                }
            }
            case PgOutputMessage.StreamStop ignored -> streams().stop();
            case PgOutputMessage.StreamAbort abort -> streamAbort(abort, out);
            case PgOutputMessage.StreamCommit commit -> streamCommit(commit, out);
            case PgOutputMessage.StreamPrepare prepare -> streamPrepare(prepare, out);
        }
    }

    private void part(PgOutputMessage.Streamable part, Consumer<? super TransactionEvent> out) {
        TransactionEvent event = changes.resolve(part);
        if (event == null) {
            return;
        }
        if (event instanceof TransactionEvent.Message message && !message.transactional()) {
            outside("a message that is not transactional");
        } else {
            inside("a change or message");
            release(out);
        }
        out.accept(event);
    }

    private void keep(
            PreparedHold.Transaction keeping, PgOutputMessage.Streamable part, byte[] bytes, int offset, int length) {
        if (part instanceof PgOutputMessage.RelationMessage description) {
            relations.put(description.relation());
        }
        keeping.append(inside("a change or message").xid(), part, bytes, offset, length);
        streams().limitMemory();
    }

    private void beginPrepare(PgOutputMessage.BeginPrepare begin) {
        begin(
                "a prepared transaction's begin",
                begin.xid(),
                begin.prepareLsn(),
                begin.prepareTime(),
                Optional.of(begin.gid()));
        if (hold.concerns(begin.prepareLsn())) {
            kept = hold.begin(begin, streams(), relations);
        }
    }

    private void begin(String what, int xid, Lsn finalLsn, Instant time, Optional<String> gid) {
        outside(what);
        open = new Unfinished(xid, finalLsn, gid);
        held = new TransactionEvent.Begin(xid, finalLsn, time, Optional.empty(), gid);
    }

    private void origin(PgOutputMessage.Origin origin, Consumer<? super TransactionEvent> out) {
        if (isInBlock()) {
            streams().origin(origin.name());
            return;
        }
        TransactionEvent.Begin begin = held;
        if (begin == null) {
            throw new UnexpectedMessageException("an origin does not follow a transaction's begin");
        }
        PreparedHold.Transaction keeping = kept;
        if (keeping != null) {
            keeping.spooled().origin(origin.name());
            return;
        }
        held = null;
        out.accept(new TransactionEvent.Begin(
                begin.xid(), begin.finalLsn(), begin.commitTime(), Optional.of(origin.name()), begin.gid()));
    }

    private void commit(PgOutputMessage.Commit commit, Consumer<? super TransactionEvent> out) {
        Unfinished transaction = inside("a commit");
        if (transaction.gid().isPresent() || !transaction.finalLsn().equals(commit.commitLsn())) {
            throw new UnexpectedMessageException("a commit at %s ends the transaction begun for %s"
                    .formatted(commit.commitLsn(), transaction.finalLsn()));
        }
        release(out);
        open = null;
        out.accept(new TransactionEvent.Commit(commit.commitLsn(), commit.endLsn(), commit.commitTime()));
    }

    private void prepare(PgOutputMessage.Prepare prepare, Consumer<? super TransactionEvent> out) {
        Unfinished transaction = inside("a prepare");
        if (!transaction.equals(new Unfinished(prepare.xid(), prepare.prepareLsn(), Optional.of(prepare.gid())))) {
            throw new UnexpectedMessageException("a prepare at %s ends the transaction begun for %s"
                    .formatted(prepare.prepareLsn(), transaction.finalLsn()));
        }
        open = null;
        if (kept != null) {
            kept = null;
            held = null;
            return;
        }
        release(out);
        out.accept(new TransactionEvent.Prepare(
                prepare.xid(), prepare.gid(), prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime()));
    }

    private void commitPrepared(PgOutputMessage.CommitPrepared commit, Consumer<? super TransactionEvent> out) {
        outside("a commit of a prepared transaction");
        Optional<PreparedHold.Transaction> decided = hold.committed(commit.xid(), commit.gid(), commit.endLsn());
        if (decided.isPresent()) {
            OpenStreams.Transaction transaction = decided.get().spooled();
            streams().release(transaction);
            out.accept(new TransactionEvent.Kept(
                    new TransactionEvent.Begin(
                            commit.xid(),
                            commit.commitLsn(),
                            commit.commitTime(),
                            transaction.origin(),
                            Optional.empty()),
                    new TransactionEvent.Commit(commit.commitLsn(), commit.endLsn(), commit.commitTime()),
                    commit.endLsn(),
                    decided.get().parts()));
            return;
        }
        out.accept(new TransactionEvent.CommitPrepared(
                commit.xid(), commit.gid(), commit.commitLsn(), commit.endLsn(), commit.commitTime()));
    }

    private void rollbackPrepared(PgOutputMessage.RollbackPrepared rollback, Consumer<? super TransactionEvent> out) {
        outside("a rollback of a prepared transaction");
        hold.rolledBack(rollback.xid(), rollback.gid()).ifPresent(rolledBack -> {
            streams().release(rolledBack.spooled());
            rolledBack.parts().discard();
        });
        out.accept(new TransactionEvent.RollbackPrepared(
                rollback.xid(),
                rollback.gid(),
                rollback.prepareEndLsn(),
                rollback.rollbackEndLsn(),
                rollback.prepareTime(),
                rollback.rollbackTime()));
    }

    /// The source may roll back what it has never streamed: PostgreSQL 18 up to 18.6 sends that even without
    /// streaming.
    private void streamAbort(PgOutputMessage.StreamAbort abort, Consumer<? super TransactionEvent> out) {
        outside("a stream abort");
        OpenStreams.Transaction transaction = streams == null ? null : streams.abort(abort.xid(), abort.subxid());
        if (transaction == null) {
            ignoredAborts++;
        } else if (transaction.early()) {
            out.accept(new OpenTransaction.RolledBack(abort.xid(), abort.subxid()));
        }
    }

    private void streamCommit(PgOutputMessage.StreamCommit commit, Consumer<? super TransactionEvent> out) {
        outside("a stream commit");
        OpenStreams.Transaction transaction = streams().take(commit.xid());
        out.accept(new TransactionEvent.Kept(
                new TransactionEvent.Begin(
                        commit.xid(), commit.commitLsn(), commit.commitTime(), transaction.origin(), Optional.empty()),
                new TransactionEvent.Commit(commit.commitLsn(), commit.endLsn(), commit.commitTime()),
                commit.endLsn(),
                transaction.parts()));
    }

    private void streamPrepare(PgOutputMessage.StreamPrepare prepare, Consumer<? super TransactionEvent> out) {
        outside("a stream prepare");
        OpenStreams.Transaction transaction = streams().take(prepare.xid());
        if (hold.concerns(prepare.prepareLsn())) {
            if (transaction.early()) {
                out.accept(new OpenTransaction.RolledBack(prepare.xid(), prepare.xid()));
            }
            hold.streamed(prepare, streams(), transaction);
            return;
        }
        out.accept(new TransactionEvent.Kept(
                new TransactionEvent.Begin(
                        prepare.xid(),
                        prepare.prepareLsn(),
                        prepare.prepareTime(),
                        transaction.origin(),
                        Optional.of(prepare.gid())),
                new TransactionEvent.Prepare(
                        prepare.xid(), prepare.gid(), prepare.prepareLsn(), prepare.endLsn(), prepare.prepareTime()),
                prepare.endLsn(),
                transaction.parts()));
    }

    private void release(Consumer<? super TransactionEvent> out) {
        TransactionEvent.Begin begin = held;
        if (begin != null) {
            held = null;
            out.accept(begin);
        }
    }

    private Unfinished inside(String what) {
        Unfinished transaction = open;
        if (transaction == null) {
            throw new UnexpectedMessageException(what + " comes outside of a transaction");
        }
        return transaction;
    }

    private void outside(String what) {
        Unfinished transaction = open;
        if (transaction != null) {
            throw new UnexpectedMessageException(
                    "%s comes inside the transaction begun for %s".formatted(what, transaction.finalLsn()));
        }
        if (isInBlock()) {
            throw new UnexpectedMessageException("%s comes inside %s".formatted(what, streams));
        }
    }

    private boolean isInBlock() {
        return streams != null && streams.isInBlock();
    }

    private OpenStreams streams() {
        if (streams == null) {
            throw new UnexpectedMessageException("streaming was not asked for");
        }
        return streams;
    }

    /// From where on nothing may be confirmed to the source, because it would not send all of a prepared
    /// transaction again that is kept here alone, or was handed out and is still on its way; empty if there is
    /// none.
    ///
    /// @param durable the target has everything that was committed before
    public Optional<Lsn> heldFrom(Lsn durable) {
        return hold.first(durable);
    }

    /// How many aborts were of transactions of which no block had come.
    public long ignoredAborts() {
        return ignoredAborts;
    }

    /// What is spooled now. For the thread that uses the assembler.
    public SpoolUsage spoolUsage() {
        return streams == null ? new SpoolUsage(0, 0, 0) : streams.usage();
    }

    /// Removes the files of this assembler. May be called twice, and after an exception.
    @Override
    public void close() {
        if (streams != null) {
            streams.close();
        }
    }
}
