package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.apply.target.EarlySession;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.TransactionEvent;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A target that commits asynchronously: a crash takes the commits that nobody has made durable. It outlives
/// the engines that write to it.
final class SimulatedTarget {

    /// What one commit made: rows and progress together.
    ///
    /// @param forgets the prepared transaction whose end the progress tells from then on, 0 for none
    private record Committed(Lsn endLsn, List<SimulatedSource.Inserted> rows, int forgets) {}

    private final RandomGenerator random;
    /// For each table its rows, copied and applied, in the order in which they came.
    private final Map<TableName, List<String>> rows = new HashMap<>();

    private final Map<TableName, Lsn> copyLsns = new HashMap<>();
    private final Lsn start;
    /// What is prepared and not ended, by transaction; durable from the start.
    private final Map<Integer, List<SimulatedSource.Inserted>> prepared = new HashMap<>();
    /// What was prepared and is committed, though the progress does not say so.
    private final Set<Integer> witnesses = new HashSet<>();

    private final List<Committed> commits = new ArrayList<>();
    private int durableCommits;
    private Lsn stored;

    /// How often the next calls of a session fail, in a thousand.
    private int faults;

    SimulatedTarget(RandomGenerator random, Lsn start) {
        this.random = random;
        this.start = start;
        this.stored = start;
    }

    void faults(int perThousand) {
        faults = perThousand;
    }

    /// A table with its rows as of a position; a synchronous commit.
    void copy(TableName table, Lsn copyLsn, List<String> copied) {
        rows.put(table, new ArrayList<>(copied));
        copyLsns.put(table, copyLsn);
        flush();
    }

    Map<TableName, Lsn> copyLsns() {
        return Map.copyOf(copyLsns);
    }

    Lsn progress() {
        return commits.isEmpty() ? start : commits.getLast().endLsn();
    }

    Lsn durableProgress() {
        return durableCommits == 0 ? start : commits.get(durableCommits - 1).endLsn();
    }

    Lsn stored() {
        return stored;
    }

    Optional<SubscriptionRecord> record() {
        return Optional.of(new SubscriptionRecord("1", "db", "slot", "pgoutput", stored));
    }

    /// All rows of a table, copied and applied, in the order in which they came.
    List<String> rows(TableName table) {
        return rows.getOrDefault(table, List.of());
    }

    /// The server dies: some of what is not durable is lost, from the end.
    void crash() {
        int kept = random.nextInt(durableCommits, commits.size() + 1);
        while (commits.size() > kept) {
            Committed lost = commits.removeLast();
            lost.rows()
                    .forEach(row ->
                            rows.getOrDefault(row.table(), new ArrayList<>()).removeLast());
            if (lost.forgets() != 0) {
                witnesses.add(lost.forgets());
            }
        }
        flush();
    }

    private void flush() {
        durableCommits = commits.size();
    }

    /// What the engine opens: reads the progress, which makes it durable.
    Session open(Subscription.Writer limits) {
        flush();
        return new Session(limits, progress());
    }

    Durability durability(Runnable meanwhile) {
        return new Disk(meanwhile);
    }

    private void maybeFail(String where) {
        if (random.nextInt(1000) < faults) {
            throw new TargetLost(ErrorCode.TARGET_LOST, where, "", null);
        }
    }

    /// Whether the changes of a prepared transaction are here in one form or another.
    boolean holds(int xid) {
        return prepared.containsKey(xid) || witnesses.contains(xid);
    }

    /// The same, if the server died now.
    boolean wouldHold(int xid) {
        return holds(xid)
                || commits.subList(durableCommits, commits.size()).stream()
                        .anyMatch(commit -> commit.forgets() == xid);
    }

    /// Whether there are rows that the progress does not tell of.
    boolean isAheadOfProgress() {
        return !witnesses.isEmpty();
    }

    boolean hasPrepared() {
        return !prepared.isEmpty();
    }

    private void prepare(int xid, List<SimulatedSource.Inserted> inserted) {
        maybeFail("before PREPARE");
        assertFalse(holds(xid), "prepared twice");
        prepared.put(xid, inserted);
        flush();
        maybeFail("after PREPARE");
    }

    private void commit(Lsn endLsn, List<SimulatedSource.Inserted> inserted) {
        commit(endLsn, inserted, 0);
    }

    private void commit(Lsn endLsn, List<SimulatedSource.Inserted> inserted, int forgets) {
        assertTrue(endLsn.isAfter(progress()), "progress goes back");
        commits.add(new Committed(endLsn, inserted, forgets));
        witnesses.remove(forgets);
        inserted.forEach(row -> rows.computeIfAbsent(row.table(), missing -> new ArrayList<>())
                .add(row.value()));
        maybeFail("after a commit");
    }

    /// The writing session of one attempt.
    final class Session implements TargetSession {

        private final Subscription.Writer limits;
        private final Lsn atOpening;
        private boolean inTransaction;
        private int xid;
        private List<SimulatedSource.Inserted> open = new ArrayList<>();

        private Session(Subscription.Writer limits, Lsn atOpening) {
            this.limits = limits;
            this.atOpening = atOpening;
        }

        @Override
        public Lsn progress() {
            return atOpening;
        }

        @Override
        public void start(Lsn progress) {
            throw new AssertionError("progress is there from the start");
        }

        @Override
        public ChangeGroup.Applied apply(ChangeGroup group) {
            requireWithinLimits(group);
            long transactions = 0;
            long rows = 0;
            Lsn endLsn = Lsn.INVALID;
            for (int i = 0; i < group.events().size(); i++) {
                maybeFail("in the middle of a group");
                switch (group.events().get(i)) {
                    case TransactionEvent.Begin begin -> {
                        assertTrue(!inTransaction, "a transaction in a transaction");
                        inTransaction = true;
                        xid = begin.xid();
                    }
                    case Change.Insert insert -> {
                        assertTrue(inTransaction, "a change outside of a transaction");
                        open.add(inserted(insert));
                        rows++;
                    }
                    case TransactionEvent.Commit commit -> {
                        assertTrue(inTransaction, "a commit outside of a transaction");
                        inTransaction = false;
                        transactions++;
                        if (group.boundaries() || i + 1 == group.complete()) {
                            commit(commit.endLsn(), open);
                            open = new ArrayList<>();
                            endLsn = commit.endLsn();
                        }
                    }
                    case TransactionEvent.Prepare prepare -> {
                        assertTrue(inTransaction, "a prepare outside of a transaction");
                        assertEquals(i + 1, group.events().size(), "a prepared transaction in a group with others");
                        inTransaction = false;
                        transactions++;
                        if (holds(xid)) {
                            assertTrue(open.isEmpty(), "prepared twice");
                        } else {
                            prepare(xid, open);
                        }
                        open = new ArrayList<>();
                        commit(prepare.endLsn(), List.of());
                        endLsn = prepare.endLsn();
                    }
                    default -> throw new AssertionError("nobody sent this");
                }
            }
            assertEquals(group.complete() < group.events().size(), inTransaction, "complete does not say what is");
            maybeFail("after the commit, before the reply");
            return new ChangeGroup.Applied(transactions, rows, endLsn);
        }

        private void requireWithinLimits(ChangeGroup group) {
            long bytes = 0;
            long last = 0;
            int changes = 0;
            for (TransactionEvent event : group.events()) {
                last = event.retainedBytes();
                bytes += last;
                changes += event instanceof Change ? 1 : 0;
            }
            assertTrue(bytes - last < limits.groupBytes(), "a group of too many bytes");
            assertTrue(changes <= limits.groupRows(), "a group of too many rows");
        }

        @Override
        public void yieldTo(@Nullable Runnable release) {}

        @Override
        public boolean isHere(int xid) {
            return holds(xid);
        }

        @Override
        public void commitPrepared(TransactionEvent.CommitPrepared decided) {
            assertTrue(!inTransaction, "a decision inside a transaction");
            maybeFail("before COMMIT PREPARED");
            List<SimulatedSource.Inserted> inserted = prepared.remove(decided.xid());
            if (inserted != null) {
                inserted.forEach(row -> rows.computeIfAbsent(row.table(), missing -> new ArrayList<>())
                        .add(row.value()));
                witnesses.add(decided.xid());
                flush();
                maybeFail("after COMMIT PREPARED");
            }
            assertTrue(witnesses.contains(decided.xid()), "what was prepared is neither prepared nor committed");
            commit(decided.endLsn(), List.of(), decided.xid());
        }

        @Override
        public void rollbackPrepared(TransactionEvent.RollbackPrepared decided) {
            assertTrue(!inTransaction, "a decision inside a transaction");
            assertFalse(witnesses.contains(decided.xid()), "what is rolled back was committed");
            maybeFail("before ROLLBACK PREPARED");
            prepared.remove(decided.xid());
            flush();
            maybeFail("after ROLLBACK PREPARED");
            commit(decided.rollbackEndLsn(), List.of());
        }

        @Override
        public void close() {}

        @Override
        public void abort() {}
    }

    EarlySession early() {
        maybeFail("opening a session");
        return new Early();
    }

    /// A session for a transaction that is open at the source.
    private final class Early implements EarlySession {

        private final List<SimulatedSource.Inserted> open = new ArrayList<>();
        private final Map<Integer, Integer> savepoints = new HashMap<>();

        @Override
        public void write(List<TransactionEvent> changes) {
            maybeReject();
            changes.forEach(change -> open.add(inserted((Change.Insert) change)));
        }

        @Override
        public void savepoint(int subxid) {
            maybeReject();
            savepoints.put(subxid, open.size());
        }

        @Override
        public void rollbackTo(int subxid) {
            maybeReject();
            Integer before = savepoints.get(subxid);
            assertNotNull(before, "no such savepoint");
            open.subList(before, open.size()).clear();
            savepoints.values().removeIf(size -> size > before);
            savepoints.remove(subxid);
        }

        @Override
        public void rollback() {
            open.clear();
            savepoints.clear();
        }

        @Override
        public ChangeGroup.Applied finish(TransactionEvent.Begin begin, TransactionEvent end) {
            maybeReject();
            List<SimulatedSource.Inserted> rows = List.copyOf(open);
            rollback();
            switch (end) {
                case TransactionEvent.Commit commit -> commit(commit.endLsn(), rows);
                case TransactionEvent.Prepare prepare -> {
                    prepare(begin.xid(), rows);
                    commit(prepare.endLsn(), List.of());
                }
                default -> throw new AssertionError("no end");
            }
            return new ChangeGroup.Applied(1, rows.size(), begin.finalLsn());
        }

        /// A lock, a conflict: nothing that ends a run.
        private void maybeReject() {
            if (random.nextInt(200) == 0) {
                rollback();
                throw new ChangeRejected("in the way", "", null, null, null);
            }
        }

        @Override
        public void close() {}

        @Override
        public void abort() {}
    }

    private static SimulatedSource.Inserted inserted(Change.Insert insert) {
        Row row = insert.newRow().row();
        return new SimulatedSource.Inserted(
                insert.relation().name(),
                new String(row.bytes(), row.offset(0), row.length(0), StandardCharsets.UTF_8));
    }

    /// The connection that asks for what is durable.
    private final class Disk implements Durability {

        private final Runnable meanwhile;

        private Disk(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        @Override
        public Lsn durable(Lsn committed) {
            maybeFail("asking for the durable progress");
            meanwhile.run();
            flush();
            Lsn answer = SimulatedTarget.this.progress();
            meanwhile.run();
            maybeFail("before the answer");
            return answer.min(committed);
        }

        @Override
        public void confirm(Lsn position) {
            maybeFail("storing a position");
            meanwhile.run();
            stored = position;
            flush();
            maybeFail("after storing a position");
        }

        @Override
        public Optional<String> blocker() {
            return Optional.empty();
        }

        @Override
        public void close() {}

        @Override
        public void abort() {}
    }
}
