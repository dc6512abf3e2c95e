package dev.pgapply.decoder.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/// A source with streaming: open transactions with nested savepoints, of which it sends blocks in between, and
/// what a subscriber must make of that. It keeps the source's own books of which descriptions were sent.
///
/// Every value is `table vVERSION #NUMBER`, where the version is that of the table's description in force when
/// the row was decoded.
final class SimulatedSource {

    private static final int TABLES = 3;
    private static final int FIRST_OID = 16384;

    private final Random random;
    private final Consumer<byte[]> send;
    private final List<String> expected = new ArrayList<>();
    private final Map<Integer, Transaction> open = new LinkedHashMap<>();
    private final Table[] tables = new Table[TABLES];
    private int nextXid;
    private long nextLsn = 100;
    private int nextNumber;

    /// What the plug-in knows of a table: whether it was described to all, and in which open streams.
    private static final class Table {
        private int version = 1;
        private boolean described;
        private final Set<Integer> describedIn = new HashSet<>();
    }

    private record Row(int xid, int table, String value) {}

    /// @param xids its own and those of what was done inside it, released or not
    private record Savepoint(int xid, int firstRow, List<Integer> xids) {}

    private static final class Transaction {
        private final int xid;
        private final List<Savepoint> savepoints = new ArrayList<>();
        private final List<Row> rows = new ArrayList<>();
        private int sent;
        private boolean streamed;
        private final Set<Integer> streamedXids = new HashSet<>();

        Transaction(int xid) {
            this.xid = xid;
        }

        int currentXid() {
            return savepoints.isEmpty() ? xid : savepoints.getLast().xid();
        }
    }

    SimulatedSource(Random random, Consumer<byte[]> send) {
        this.random = random;
        this.send = send;
        // Now and then the ids wrap around.
        this.nextXid = random.nextInt(4) == 0 ? -20 : 1000;
        for (int i = 0; i < TABLES; i++) {
            tables[i] = new Table();
        }
    }

    /// What a subscriber must have seen so far: `begin XID`, values, `commit` or `prepare`.
    List<String> expected() {
        return expected;
    }

    void step() {
        switch (random.nextInt(20)) {
            case 0, 1 -> begin();
            case 2 -> ordinary();
            case 3 -> alterTable();
            case 4, 5 -> withAny(this::end);
            case 6 -> withAny(this::rollBack);
            case 7, 8 -> withAny(this::savepoint);
            case 9 -> withAny(this::release);
            case 10, 11 -> withAny(this::rollBackToSavepoint);
            case 12, 13 -> withAny(this::sendBlock);
            default -> withAny(this::write);
        }
    }

    private void withAny(Consumer<Transaction> action) {
        if (open.isEmpty()) {
            begin();
        }
        List<Transaction> all = new ArrayList<>(open.values());
        action.accept(all.get(random.nextInt(all.size())));
    }

    private int newXid() {
        return ++nextXid == 0 ? ++nextXid : nextXid;
    }

    private void begin() {
        Transaction transaction = new Transaction(newXid());
        open.put(transaction.xid, transaction);
    }

    private void write(Transaction transaction) {
        for (int i = random.nextInt(5); i >= 0; i--) {
            transaction.rows.add(new Row(transaction.currentXid(), random.nextInt(TABLES), ""));
        }
    }

    private void savepoint(Transaction transaction) {
        transaction.savepoints.add(new Savepoint(newXid(), transaction.rows.size(), new ArrayList<>()));
        transaction.savepoints.getLast().xids().add(transaction.currentXid());
    }

    /// What was done inside belongs to the outer savepoint from now on, under its own id.
    private void release(Transaction transaction) {
        if (!transaction.savepoints.isEmpty()) {
            Savepoint released = transaction.savepoints.removeLast();
            if (!transaction.savepoints.isEmpty()) {
                transaction.savepoints.getLast().xids().addAll(released.xids());
            }
        }
    }

    /// The aborts of all that was done inside come in any order; of what was not sent yet nothing is told.
    private void rollBackToSavepoint(Transaction transaction) {
        if (transaction.savepoints.isEmpty()) {
            return;
        }
        int index = random.nextInt(transaction.savepoints.size());
        Savepoint target = transaction.savepoints.get(index);
        List<Integer> aborted = new ArrayList<>();
        for (Savepoint savepoint : transaction.savepoints.subList(index, transaction.savepoints.size())) {
            aborted.addAll(savepoint.xids());
        }
        transaction.savepoints.subList(index, transaction.savepoints.size()).clear();
        transaction.rows.subList(target.firstRow(), transaction.rows.size()).clear();
        transaction.sent = Math.min(transaction.sent, transaction.rows.size());
        Collections.shuffle(aborted, random);
        for (int subxid : aborted) {
            if (transaction.streamedXids.contains(subxid)) {
                send.accept(WireBytes.streamAbort(transaction.xid, subxid));
                forgetDescriptions(transaction);
            }
        }
    }

    private void sendBlock(Transaction transaction) {
        send.accept(WireBytes.streamStart(transaction.xid, !transaction.streamed));
        transaction.streamed = true;
        for (int i = transaction.sent; i < transaction.rows.size(); i++) {
            Row row = transaction.rows.get(i);
            Table table = tables[row.table()];
            if (table.describedIn.add(transaction.xid)) {
                send.accept(WireBytes.relation(row.xid(), oid(row.table()), name(row.table())));
            }
            String value = newValue(row.table());
            send.accept(WireBytes.insert(row.xid(), oid(row.table()), value));
            transaction.rows.set(i, new Row(row.xid(), row.table(), value));
            transaction.streamedXids.add(row.xid());
        }
        transaction.sent = transaction.rows.size();
        send.accept(WireBytes.streamStop());
    }

    private void end(Transaction transaction) {
        if (!transaction.streamed) {
            open.remove(transaction.xid);
            whole(transaction);
            return;
        }
        if (transaction.sent < transaction.rows.size()) {
            sendBlock(transaction);
        }
        open.remove(transaction.xid);
        long lsn = nextLsn += 10;
        boolean prepare = random.nextInt(4) == 0;
        send.accept(
                prepare
                        ? WireBytes.streamPrepare(transaction.xid, lsn, "gid " + transaction.xid)
                        : WireBytes.streamCommit(transaction.xid, lsn));
        for (Table table : tables) {
            if (table.describedIn.remove(transaction.xid)) {
                table.described = true;
            }
        }
        expect(transaction, prepare ? "prepare" : "commit");
    }

    private void rollBack(Transaction transaction) {
        open.remove(transaction.xid);
        if (transaction.streamed) {
            send.accept(WireBytes.streamAbort(transaction.xid, transaction.xid));
            forgetDescriptions(transaction);
        }
    }

    private void ordinary() {
        Transaction transaction = new Transaction(newXid());
        write(transaction);
        whole(transaction);
    }

    private void whole(Transaction transaction) {
        long lsn = nextLsn += 10;
        send.accept(WireBytes.begin(transaction.xid, lsn));
        for (int i = 0; i < transaction.rows.size(); i++) {
            int number = transaction.rows.get(i).table();
            if (!tables[number].described) {
                tables[number].described = true;
                send.accept(WireBytes.relation(0, oid(number), name(number)));
            }
            String value = newValue(number);
            send.accept(WireBytes.insert(0, oid(number), value));
            transaction.rows.set(i, new Row(transaction.xid, number, value));
        }
        send.accept(WireBytes.commit(lsn));
        expect(transaction, "commit");
    }

    private void expect(Transaction transaction, String end) {
        expected.add("begin " + Integer.toUnsignedString(transaction.xid));
        transaction.rows.forEach(row -> expected.add(row.value()));
        expected.add(end);
    }

    /// As an invalidation does it: whatever was described has to be described again.
    private void alterTable() {
        Table table = tables[random.nextInt(TABLES)];
        table.version++;
        table.described = false;
        table.describedIn.clear();
    }

    private void forgetDescriptions(Transaction transaction) {
        for (Table table : tables) {
            table.describedIn.remove(transaction.xid);
        }
    }

    private String name(int table) {
        return "t" + table + " v" + tables[table].version;
    }

    private static int oid(int table) {
        return FIRST_OID + table;
    }

    private String newValue(int table) {
        String filler = "x".repeat(random.nextInt(20) == 0 ? 3000 : random.nextInt(30));
        return name(table) + " #" + nextNumber++ + filler;
    }
}
