package dev.pgapply.apply.engine;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.postgres.SlotFacts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// A source with one slot: runs random transactions, some of them long, with savepoints, or prepared, and writes
/// a log of which the server sends what lies behind a position.
final class SimulatedSource {

    /// A table that is followed from the start.
    static final TableName OLD = new TableName("public", "old");
    /// One whose copy is ahead of the first progress.
    static final TableName COPIED = new TableName("public", "copied");
    /// One that joins the publication later.
    static final TableName LATE = new TableName("public", "late");
    /// One that has left the publication.
    static final TableName GONE = new TableName("public", "gone");

    static final List<TableName> TABLES = List.of(OLD, COPIED, LATE, GONE);

    private static final int MOST_OPEN = 4;

    /// A row that a transaction inserts.
    record Inserted(TableName table, String value) {}

    /// What one of a transaction's steps does.
    sealed interface Step {
        /// @param subxid the transaction's own, or that of a savepoint
        record Row(int subxid, Inserted inserted) implements Step {}

        record RollbackTo(int subxid) implements Step {}
    }

    /// A transaction, open or ended.
    static final class Transaction {
        private final int xid;
        private final List<Step> steps = new ArrayList<>();
        private final List<Integer> savepoints = new ArrayList<>();
        private Lsn prepareLsn = Lsn.INVALID;
        private Lsn prepareEndLsn = Lsn.INVALID;
        private Lsn finalLsn = Lsn.INVALID;
        private Lsn endLsn = Lsn.INVALID;
        private boolean committed;

        private Transaction(int xid) {
            this.xid = xid;
        }

        int xid() {
            return xid;
        }

        List<Step> steps() {
            return steps;
        }

        Lsn prepareLsn() {
            return prepareLsn;
        }

        Lsn prepareEndLsn() {
            return prepareEndLsn;
        }

        boolean isPrepared() {
            return prepareLsn.isValid();
        }

        Lsn finalLsn() {
            return finalLsn;
        }

        Lsn endLsn() {
            return endLsn;
        }

        /// Whether it has ended, and well.
        boolean isCommitted() {
            return committed;
        }

        /// Whether the source has rolled it back.
        boolean isRolledBack() {
            return endLsn.isValid() && !committed;
        }

        /// What is left of it after its rollbacks to savepoints.
        List<Inserted> rows() {
            List<Step.Row> left = new ArrayList<>();
            for (Step step : steps) {
                switch (step) {
                    case Step.Row row -> left.add(row);
                    case Step.RollbackTo undone -> {
                        for (int i = 0; i < left.size(); i++) {
                            if (left.get(i).subxid() == undone.subxid()) {
                                left.subList(i, left.size()).clear();
                            }
                        }
                    }
                }
            }
            return left.stream().map(Step.Row::inserted).toList();
        }
    }

    /// What the log has, in the order of the positions.
    sealed interface Entry {
        Transaction transaction();

        Lsn lsn();

        /// So many steps of the transaction were decoded when the server's memory was full.
        record Block(Transaction transaction, Lsn lsn, int steps) implements Entry {}

        record Prepared(Transaction transaction, Lsn lsn) implements Entry {}

        record Ended(Transaction transaction, Lsn lsn) implements Entry {}
    }

    private final RandomGenerator random;
    private final boolean longOnes;
    private final boolean preparedOnes;
    private final List<Entry> log = new ArrayList<>();
    private final List<Transaction> open = new ArrayList<>();
    private final List<Transaction> all = new ArrayList<>();
    /// For each table its rows in the order of their commits, and how many there were before each commit.
    private final Map<TableName, List<String>> rows = new HashMap<>();

    private final Map<TableName, TreeMap<Lsn, Integer>> countBefore = new HashMap<>();
    private long wal = 0x1000;
    private Lsn confirmed = new Lsn(wal);
    /// Where the slot was made: what was prepared before comes whole at its commit.
    private Lsn twoPhaseAt = new Lsn(wal);

    private int serial;
    private int xids = 700;

    /// @param longOnes some transactions stay open for a while
    /// @param preparedOnes some are prepared first
    SimulatedSource(RandomGenerator random, boolean longOnes, boolean preparedOnes) {
        this.random = random;
        this.longOnes = longOnes;
        this.preparedOnes = preparedOnes;
    }

    /// The slot begins here, and with it two-phase.
    void makeSlot() {
        confirmed = new Lsn(wal);
        twoPhaseAt = confirmed;
    }

    Lsn twoPhaseAt() {
        return twoPhaseAt;
    }

    /// Something happens: a transaction commits, or goes on, or log is written that has nothing for the slot.
    void advance(boolean withLate) {
        if (random.nextInt(4) == 0) {
            wal += random.nextInt(1, 10_000);
            return;
        }
        if (longOnes && !open.isEmpty() && random.nextBoolean()) {
            goOn(open.get(random.nextInt(open.size())), withLate);
            return;
        }
        Transaction transaction = new Transaction(xids++);
        all.add(transaction);
        insert(transaction, sizeOfTransaction(), withLate);
        if (longOnes && open.size() < MOST_OPEN && random.nextInt(3) == 0) {
            open.add(transaction);
        } else if (preparedOnes && open.size() < MOST_OPEN && random.nextInt(4) == 0) {
            prepare(transaction);
            open.add(transaction);
        } else {
            end(transaction, true);
        }
    }

    private void goOn(Transaction transaction, boolean withLate) {
        if (transaction.isPrepared()) {
            end(transaction, random.nextInt(4) != 0);
            return;
        }
        switch (random.nextInt(8)) {
            case 0, 1 -> insert(transaction, random.nextInt(1, 20), withLate);
            case 2 -> {
                transaction.savepoints.add(xids++);
                insert(transaction, random.nextInt(5), withLate);
            }
            case 3 -> rollBackTo(transaction);
            case 4, 5 -> {
                wal += random.nextInt(1, 50);
                log.add(new Entry.Block(
                        transaction, new Lsn(wal), transaction.steps().size()));
            }
            case 6 -> {
                if (preparedOnes && random.nextBoolean()) {
                    prepare(transaction);
                } else {
                    end(transaction, true);
                }
            }
            default -> end(transaction, random.nextInt(3) != 0);
        }
    }

    private void rollBackTo(Transaction transaction) {
        if (transaction.savepoints.isEmpty()) {
            return;
        }
        int at = random.nextInt(transaction.savepoints.size());
        // The source tells of every subtransaction that goes, the innermost first.
        for (int i = transaction.savepoints.size() - 1; i >= at; i--) {
            transaction.steps.add(new Step.RollbackTo(transaction.savepoints.remove(/* index */ i)));
        }
    }

    private void insert(Transaction transaction, int count, boolean withLate) {
        for (int left = count; left > 0; left--) {
            TableName table = TABLES.get(random.nextInt(TABLES.size()));
            if (!table.equals(LATE) || withLate) {
                String padding = random.nextInt(50) == 0 ? "-".repeat(random.nextInt(3_000)) : "";
                int subxid = transaction.savepoints.isEmpty() ? transaction.xid : transaction.savepoints.getLast();
                transaction.steps.add(new Step.Row(subxid, new Inserted(table, ++serial + padding)));
                wal += 10;
            }
        }
    }

    private void prepare(Transaction transaction) {
        wal += random.nextInt(1, 100);
        transaction.prepareLsn = new Lsn(wal);
        wal += random.nextInt(1, 60);
        transaction.prepareEndLsn = new Lsn(wal);
        log.add(new Entry.Prepared(transaction, transaction.prepareLsn));
    }

    private void end(Transaction transaction, boolean commit) {
        open.remove(transaction);
        wal += random.nextInt(1, 100);
        // Nothing need lie between a commit and the next one.
        transaction.finalLsn = new Lsn(wal);
        wal += random.nextInt(1, 60);
        transaction.endLsn = new Lsn(wal);
        transaction.committed = commit;
        log.add(new Entry.Ended(transaction, transaction.finalLsn));
        if (!commit) {
            return;
        }
        List<Inserted> inserted = transaction.rows();
        for (TableName table : TABLES) {
            List<String> tables = rows.computeIfAbsent(table, missing -> new ArrayList<>());
            countBefore.computeIfAbsent(table, missing -> new TreeMap<>()).put(transaction.finalLsn, tables.size());
            inserted.stream().filter(row -> row.table().equals(table)).forEach(row -> tables.add(row.value()));
        }
    }

    /// Ends whatever is open.
    void endAll() {
        List.copyOf(open).forEach(transaction -> end(transaction, true));
    }

    private int sizeOfTransaction() {
        return switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> random.nextInt(1, 200);
            default -> random.nextInt(1, 6);
        };
    }

    Lsn walEnd() {
        return new Lsn(wal);
    }

    Lsn confirmed() {
        return confirmed;
    }

    void confirm(Lsn flushed) {
        confirmed = confirmed.max(flushed);
    }

    SlotFacts slot() {
        return new SlotFacts(
                "slot",
                Optional.of("pgoutput"),
                Optional.of("db"),
                false,
                OptionalInt.empty(),
                Optional.empty(),
                Optional.of(confirmed),
                Optional.of(confirmed),
                Optional.of("reserved"),
                Optional.empty(),
                preparedOnes,
                false);
    }

    List<Entry> log() {
        return Collections.unmodifiableList(log);
    }

    List<Transaction> transactions() {
        return Collections.unmodifiableList(all);
    }

    /// What the table holds for somebody who has seen every commit that begins before this position.
    List<String> rowsBefore(TableName table, Lsn position) {
        List<String> known = rows.getOrDefault(table, List.of());
        Map.Entry<Lsn, Integer> next =
                countBefore.getOrDefault(table, new TreeMap<>()).ceilingEntry(position);
        return known.subList(0, next == null ? known.size() : next.getValue());
    }
}
