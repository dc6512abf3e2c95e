package dev.pgapply.apply.engine;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.ChangeQueue;
import dev.pgapply.apply.source.SpoolErrors;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.OpenTransaction;
import dev.pgapply.decoder.transaction.SpoolException;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Collects consecutive transactions from the queue into groups and has them written. A group ends when it is
/// large or old enough, or when nothing more waits: under light load each transaction is applied at once, under
/// backlog groups grow.
final class Applier {

    private static final Duration PATIENCE = Duration.ofMillis(50);

    /// Why [#run] came back.
    enum End {
        /// Everything up to the wanted position is committed.
        UNTIL_REACHED,
        /// It was asked to stop.
        STOPPED,
        /// Other tables are published than are followed: a change of a table that is not known came, and
        /// everything before its transaction is committed.
        TABLES_CHANGED
    }

    private final ChangeQueue queue;
    private final TargetSession session;
    private final TableGate gate;
    private final EarlyTransactions early;
    private final Subscription.Writer limits;
    private final Positions positions;
    private final EngineListener listener;
    private final Set<Relation> reported = new HashSet<>();

    private List<TransactionEvent> events = new ArrayList<>();
    private int complete;
    private int rows;
    private long bytes;
    private long openedAtNanos;
    private TransactionEvent.@Nullable Begin current;
    /// Whether rows of the current transaction were collected or written.
    private boolean currentHasRows;
    /// Whether the target has the current transaction, prepared at least.
    private boolean currentIsThere;

    private Lsn passed = Lsn.INVALID;
    private Instant lastCommitTime = Instant.EPOCH;
    private boolean unknownTable;

    Applier(
            ChangeQueue queue,
            TargetSession session,
            TableGate gate,
            EarlyTransactions early,
            Subscription.Writer limits,
            Positions positions,
            EngineListener listener) {
        this.queue = queue;
        this.session = session;
        this.gate = gate;
        this.early = early;
        this.limits = limits;
        this.positions = positions;
        this.listener = listener;
    }

    /// Applies until one of the [End]s.
    ///
    /// @param until the position to stop behind; `0/0` for none
    /// @param stop asked between groups
    End run(Lsn until, java.util.function.BooleanSupplier stop) throws InterruptedException {
        while (true) {
            if (stop.getAsBoolean()) {
                return End.STOPPED;
            }
            ChangeQueue.Batch batch = queue.poll(PATIENCE);
            if (batch != null) {
                take(batch);
                if (unknownTable) {
                    flush();
                    return End.TABLES_CHANGED;
                }
            }
            if (isDue(batch)) {
                flush();
            }
            if (until.isValid() && !positions.committed().isBefore(until)) {
                return End.UNTIL_REACHED;
            }
        }
    }

    private boolean isDue(ChangeQueue.@Nullable Batch batch) {
        if (events.isEmpty()) {
            return passed.isValid();
        }
        return batch == null
                || queue.isEmpty()
                || isFull()
                || System.nanoTime() - openedAtNanos >= limits.groupAge().toNanos();
    }

    private boolean isFull() {
        return rows >= limits.groupRows() || bytes >= limits.groupBytes();
    }

    private void take(ChangeQueue.Batch batch) {
        batch.events().forEach(this::takeNext);
        if (!unknownTable && batch.idleAt().isValid() && current == null) {
            passed = passed.max(batch.idleAt());
        }
    }

    private void takeNext(TransactionEvent event) {
        if (unknownTable) {
            return;
        }
        take(event);
        if (isFull()) {
            flush();
        }
    }

    private void take(TransactionEvent event) {
        switch (event) {
            case TransactionEvent.Begin begin -> begin(begin);
            case Change.Truncate truncate -> truncate(truncate);
            case Change.Insert insert -> change(insert, insert.relation());
            case Change.Update update -> change(update, update.relation());
            case Change.Delete delete -> change(delete, delete.relation());
            case TransactionEvent.Commit commit -> commit(commit);
            case TransactionEvent.Message message -> message(message);
            case TransactionEvent.Kept kept -> kept(kept);
            case OpenTransaction.Part part -> {
                // What it does comes after everything that is committed, and may build on it.
                flush();
                early.write(part);
                session.yieldTo(early.isEmpty() ? null : early::giveUpAll);
            }
            case OpenTransaction.RolledBack rolledBack -> early.rollBack(rolledBack);
            case TransactionEvent.Prepare prepare -> prepare(prepare);
            case TransactionEvent.CommitPrepared decided -> {
                if (isDecisionDue(gate.isDone(decided.commitLsn()), decided.endLsn())) {
                    finish(decided);
                }
            }
            case TransactionEvent.RollbackPrepared decided -> {
                if (isDecisionDue(gate.isPassed(decided.rollbackEndLsn()), decided.rollbackEndLsn())) {
                    session.rollbackPrepared(decided);
                    positions.committed(decided.rollbackEndLsn());
                }
            }
        }
    }

    private void kept(TransactionEvent.Kept kept) {
        if (early.has(kept.begin().xid())) {
            flush();
            Optional<ChangeGroup.Applied> applied = early.finish(kept, this::message);
            session.yieldTo(early.isEmpty() ? null : early::giveUpAll);
            if (applied.isPresent()) {
                kept.parts().discard();
                positions.committed(kept.endLsn());
                listener.onEvent(new EngineEvent.Committed(
                        applied.get().transactions(),
                        applied.get().rows(),
                        kept.endLsn(),
                        kept.begin().commitTime()));
                return;
            }
        }
        try {
            kept.forEach(this::takeNext);
        } catch (SpoolException e) {
            throw SpoolErrors.translate(e);
        }
    }

    /// A prepared transaction shares its target transaction with no other.
    private void begin(TransactionEvent.Begin begin) {
        if (begin.prepared()) {
            flush();
        }
        current = begin;
        currentHasRows = false;
        // Prepared before this stream began, and now sent again, at its prepare or its commit.
        currentIsThere = session.isHere(begin.xid()) && !gate.isDone(begin.finalLsn());
        add(begin);
    }

    private void prepare(TransactionEvent.Prepare prepare) {
        current = null;
        lastCommitTime = prepare.prepareTime();
        add(prepare);
        complete = events.size();
        passed = passed.max(prepare.endLsn());
        flush();
    }

    private boolean isDecisionDue(boolean done, Lsn endLsn) {
        flush();
        passed = passed.max(endLsn);
        return !done;
    }

    private void finish(TransactionEvent.CommitPrepared decided) {
        session.commitPrepared(decided);
        positions.committed(decided.endLsn());
        listener.onEvent(new EngineEvent.Committed(0, 0, decided.endLsn(), decided.commitTime()));
    }

    private void message(TransactionEvent.Message message) {
        TransactionEvent.Begin begin = current;
        if (!message.transactional()) {
            passed = passed.max(message.lsn());
        } else if (begin != null && gate.isDone(begin.finalLsn())) {
            return;
        }
        listener.onEvent(new EngineEvent.LogicalMessage(
                message.transactional(), message.lsn(), message.prefix(), message.content()));
    }

    private void change(Change change, Relation relation) {
        if (isWanted(relation)) {
            addRow(change);
        }
    }

    private void truncate(Change.Truncate truncate) {
        List<Relation> wanted =
                truncate.relations().stream().filter(this::isWanted).toList();
        if (!wanted.isEmpty()) {
            addRow(new Change.Truncate(wanted, truncate.cascade(), truncate.restartIdentity()));
        }
    }

    private boolean isWanted(Relation relation) {
        TransactionEvent.Begin begin = current;
        if (begin == null) {
            throw new IllegalStateException("a change outside of a transaction");
        }
        if (currentIsThere) {
            return false;
        }
        return switch (gate.decide(relation, begin.finalLsn())) {
            case APPLY -> true;
            case ALREADY_THERE -> false;
            case NOT_FOLLOWED -> {
                if (reported.add(relation)) {
                    listener.onEvent(new EngineEvent.Warning("table " + relation.name()
                            + " is no longer published: its changes from the transaction committed at "
                            + begin.finalLsn() + " on are left out, its rows are kept"));
                }
                yield false;
            }
            case UNKNOWN_TABLE -> {
                unknownTable = true;
                yield false;
            }
        };
    }

    private void addRow(Change change) {
        if (unknownTable) {
            return;
        }
        currentHasRows = true;
        rows++;
        add(change);
    }

    private void commit(TransactionEvent.Commit commit) {
        TransactionEvent.Begin begun = current;
        current = null;
        lastCommitTime = commit.commitTime();
        if (!currentHasRows) {
            // Nothing for the target: its Begin, the last event collected, goes as well.
            if (!events.isEmpty() && events.getLast() instanceof TransactionEvent.Begin begin) {
                events.removeLast();
                bytes -= begin.retainedBytes();
            }
            passed = passed.max(commit.endLsn());
            if (currentIsThere && begun != null) {
                flush();
                finish(new TransactionEvent.CommitPrepared(
                        begun.xid(), "", commit.commitLsn(), commit.endLsn(), commit.commitTime()));
            }
            return;
        }
        add(commit);
        complete = events.size();
        passed = passed.max(commit.endLsn());
        if (!limits.grouping() && isFull()) {
            flush();
        }
    }

    private void add(TransactionEvent event) {
        if (events.isEmpty()) {
            openedAtNanos = System.nanoTime();
        }
        events.add(event);
        bytes += event.retainedBytes();
    }

    /// Writes what has been collected. The changes of an incomplete transaction are kept back until they are
    /// too many to hold: they then go to the target ahead of their commit.
    private void flush() {
        while (complete > 0 || (isFull() && currentHasRows && !unknownTable)) {
            write();
        }
        if (passed.isValid()) {
            positions.passed(passed);
            passed = Lsn.INVALID;
        }
    }

    private void write() {
        int end = complete > 0 ? complete : events.size();
        List<TransactionEvent> tail = List.copyOf(events.subList(end, events.size()));
        List<TransactionEvent> now = end == events.size() ? events : events.subList(0, end);
        ChangeGroup.Applied applied = session.apply(new ChangeGroup(now, complete, !limits.grouping()));
        if (applied.endLsn().isValid()) {
            positions.committed(applied.endLsn());
            listener.onEvent(new EngineEvent.Committed(
                    applied.transactions(), applied.rows(), applied.endLsn(), lastCommitTime));
        }
        startOver(unknownTable ? List.of() : tail);
    }

    private void startOver(List<TransactionEvent> tail) {
        events = new ArrayList<>(tail);
        complete = 0;
        rows = 0;
        bytes = 0;
        for (TransactionEvent event : tail) {
            bytes += event.retainedBytes();
            rows += event instanceof Change ? 1 : 0;
        }
        openedAtNanos = System.nanoTime();
    }
}
