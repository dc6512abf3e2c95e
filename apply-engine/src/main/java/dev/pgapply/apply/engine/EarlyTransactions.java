package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.apply.target.EarlySession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.OpenTransaction;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/// Transactions that are open at the source and are written to the target already, each on a connection of its
/// own, to be committed there in the order in which the source commits.
///
/// Every one is kept elsewhere as well. So whatever gets in the way, a lock of somebody else, a change that
/// cannot be written, a table that is not known: this one is rolled back and later applied like any other. All
/// of it is the applier's thread's, but [#abort].
final class EarlyTransactions implements AutoCloseable {

    /// Opens sessions.
    @FunctionalInterface
    interface Sessions {
        /// @param number counts the sessions that are open at once, from 1
        EarlySession open(int number, EngineListener listener);
    }

    /// Further than any commit of the source.
    private static final Lsn LAST = new Lsn(-1);

    /// A session and what it has to tell once its transaction is committed.
    private record Writing(int number, EarlySession session, List<EngineEvent> told) {}

    /// A transaction that is being written.
    private static final class Open {
        private final int xid;
        private final Writing writing;
        private final List<TransactionEvent> pending = new ArrayList<>();
        private final List<TransactionEvent.Message> messages = new ArrayList<>();
        private final List<Integer> savepoints = new ArrayList<>();
        private long pendingBytes;

        private Open(int xid, Writing writing) {
            this.xid = xid;
            this.writing = writing;
        }

        private EarlySession session() {
            return writing.session();
        }

        private void forgetPending() {
            pending.clear();
            pendingBytes = 0;
        }
    }

    /// It can only be decided when the transaction has committed.
    private static final class NotAhead extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotAhead() {
            super(null, null, false, false);
        }
    }

    private final Sessions sessions;
    private final TableGate gate;
    private final Subscription.Writer limits;
    private final EngineListener listener;

    private final Map<Integer, Open> open = new HashMap<>();
    /// Those that were told of and are not written ahead any more.
    private final Set<Integer> givenUp = new HashSet<>();

    private final Deque<Writing> idle = new ArrayDeque<>();
    /// Any thread may break them.
    private final ConcurrentLinkedQueue<Writing> all = new ConcurrentLinkedQueue<>();

    private boolean unusable;

    EarlyTransactions(Sessions sessions, TableGate gate, Subscription.Writer limits, EngineListener listener) {
        this.sessions = sessions;
        this.gate = gate;
        this.limits = limits;
        this.listener = listener;
    }

    /// Whether nothing is being written here.
    boolean isEmpty() {
        return open.isEmpty();
    }

    /// Whether the transaction was told of while it was open.
    boolean has(int xid) {
        return open.containsKey(xid) || givenUp.contains(xid);
    }

    /// Writes a part of an open transaction, or remembers it to be written with others.
    void write(OpenTransaction.Part part) {
        int xid = part.xid();
        if (givenUp.contains(xid)) {
            return;
        }
        Open known = open.get(xid);
        if (known == null) {
            Optional<Writing> writing = session();
            if (writing.isEmpty()) {
                givenUp.add(xid);
                return;
            }
            known = new Open(xid, writing.get());
            open.put(xid, known);
        }
        Open transaction = known;
        attempt(transaction, () -> add(transaction, part));
    }

    private void add(Open transaction, OpenTransaction.Part part) {
        switch (part.event()) {
            // Only its end tells whether it was sent.
            case TransactionEvent.Message message -> transaction.messages.add(message);
            case Change change -> {
                Optional<Change> wanted = wanted(change);
                if (wanted.isPresent()) {
                    savepoint(transaction, part.subxid());
                    add(transaction, wanted.get());
                }
            }
            default -> throw new IllegalStateException("no part of a transaction");
        }
    }

    private Optional<Change> wanted(Change change) {
        return switch (change) {
            case Change.Insert insert -> isWanted(insert.relation()) ? Optional.of(insert) : Optional.empty();
            case Change.Update update -> isWanted(update.relation()) ? Optional.of(update) : Optional.empty();
            case Change.Delete delete -> isWanted(delete.relation()) ? Optional.of(delete) : Optional.empty();
            case Change.Truncate truncate -> {
                List<Relation> relations =
                        truncate.relations().stream().filter(this::isWanted).toList();
                yield relations.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new Change.Truncate(relations, truncate.cascade(), truncate.restartIdentity()));
            }
        };
    }

    private boolean isWanted(Relation relation) {
        return switch (gate.decide(relation, LAST)) {
            case APPLY -> true;
            case ALREADY_THERE -> false;
            case NOT_FOLLOWED, UNKNOWN_TABLE -> throw new NotAhead();
        };
    }

    private static void savepoint(Open transaction, int subxid) {
        if (subxid != transaction.xid && !transaction.savepoints.contains(subxid)) {
            writePending(transaction);
            transaction.session().savepoint(subxid);
            transaction.savepoints.add(subxid);
        }
    }

    private void add(Open transaction, Change change) {
        transaction.pending.add(change);
        transaction.pendingBytes += change.retainedBytes();
        if (transaction.pending.size() >= limits.groupRows() || transaction.pendingBytes >= limits.groupBytes()) {
            writePending(transaction);
        }
    }

    private static void writePending(Open transaction) {
        if (!transaction.pending.isEmpty()) {
            transaction.session().write(List.copyOf(transaction.pending));
            transaction.forgetPending();
        }
    }

    /// Undoes what the source has undone.
    void rollBack(OpenTransaction.RolledBack rolledBack) {
        int xid = rolledBack.xid();
        Open transaction = open.get(xid);
        if (transaction != null) {
            if (xid == rolledBack.subxid()) {
                giveUp(transaction);
            } else {
                attempt(transaction, () -> rollBackTo(transaction, rolledBack.subxid()));
            }
        }
        if (xid == rolledBack.subxid()) {
            givenUp.remove(xid);
        }
    }

    /// What the subtransaction did, and all that came after it, has a savepoint before it, and what is pending
    /// came after the last savepoint.
    private static void rollBackTo(Open transaction, int subxid) {
        int savepoint = transaction.savepoints.indexOf(subxid);
        if (savepoint >= 0) {
            transaction.forgetPending();
            transaction.session().rollbackTo(subxid);
            transaction
                    .savepoints
                    .subList(savepoint, transaction.savepoints.size())
                    .clear();
        }
    }

    /// Commits or prepares what was written, after everything that the source has committed before.
    ///
    /// @param messages hears the transaction's messages
    /// @return what was committed; empty if all of the transaction has to be applied like any other
    /// @throws TargetLost if it is not known whether it is committed
    Optional<ChangeGroup.Applied> finish(TransactionEvent.Kept kept, Consumer<TransactionEvent.Message> messages) {
        int xid = kept.begin().xid();
        Open transaction = open.get(xid);
        if (transaction == null || !attempt(transaction, () -> writePending(transaction))) {
            givenUp.remove(xid);
            return Optional.empty();
        }
        open.remove(xid);
        Writing writing = transaction.writing;
        try {
            ChangeGroup.Applied applied = writing.session().finish(kept.begin(), kept.end());
            writing.told()
                    .forEach(
                            event -> listener.onEvent(placed(event, kept.begin().finalLsn())));
            writing.told().clear();
            transaction.messages.forEach(messages);
            idle.push(writing);
            return Optional.of(applied);
        } catch (TargetLost e) {
            throw e;
        } catch (ApplyException e) {
            discard(writing);
            return Optional.empty();
        }
    }

    /// Where the transaction was committed is known only now.
    private static EngineEvent placed(EngineEvent event, Lsn commitLsn) {
        return switch (event) {
            case EngineEvent.ConflictSkipped skipped ->
                new EngineEvent.ConflictSkipped(skipped.table(), skipped.type(), commitLsn);
            case EngineEvent.RowSwallowed swallowed -> new EngineEvent.RowSwallowed(swallowed.table(), commitLsn);
            default -> event;
        };
    }

    /// @return whether it went well; otherwise the transaction is given up
    private boolean attempt(Open transaction, Runnable step) {
        try {
            step.run();
            return true;
        } catch (ApplyException | NotAhead e) {
            giveUp(transaction);
            return false;
        }
    }

    /// Frees every lock that is held here.
    void giveUpAll() {
        List.copyOf(open.values()).forEach(this::giveUp);
    }

    private void giveUp(Open transaction) {
        open.remove(transaction.xid);
        givenUp.add(transaction.xid);
        Writing writing = transaction.writing;
        try {
            writing.session().rollback();
            writing.told().clear();
            idle.push(writing);
        } catch (ApplyException e) {
            discard(writing);
        }
    }

    private Optional<Writing> session() {
        Writing waiting = idle.poll();
        if (waiting != null || unusable) {
            return Optional.ofNullable(waiting);
        }
        int number = 1;
        while (isUsed(number)) {
            number++;
        }
        List<EngineEvent> told = new ArrayList<>();
        try {
            Writing writing = new Writing(number, sessions.open(number, told::add), told);
            all.add(writing);
            return Optional.of(writing);
        } catch (ApplyException e) {
            unusable = true;
            listener.onEvent(new EngineEvent.Warning(
                    "open transactions are not written ahead of their commit: " + e.getMessage()));
            return Optional.empty();
        }
    }

    private boolean isUsed(int number) {
        return all.stream().anyMatch(writing -> writing.number() == number);
    }

    private void discard(Writing writing) {
        all.remove(writing);
        writing.session().close();
    }

    /// Breaks the connections, from any thread.
    void abort() {
        all.forEach(writing -> writing.session().abort());
    }

    @Override
    public void close() {
        all.forEach(writing -> writing.session().close());
        all.clear();
    }
}
