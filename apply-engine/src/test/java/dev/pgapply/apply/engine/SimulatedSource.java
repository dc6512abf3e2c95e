package dev.pgapply.apply.engine;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.postgres.SlotFacts;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/// A source with one slot: commits random transactions, and knows which of them the server would send from a
/// position on.
final class SimulatedSource {

    /// A table that is followed from the start.
    static final TableName OLD = new TableName("public", "old");
    /// One whose copy is ahead of the first progress.
    static final TableName COPIED = new TableName("public", "copied");
    /// One that joins the publication later.
    static final TableName LATE = new TableName("public", "late");
    /// One that has left the publication.
    static final TableName GONE = new TableName("public", "gone");

    private static final List<TableName> TABLES = List.of(OLD, COPIED, LATE, GONE);

    /// A row that a transaction inserts.
    record Inserted(TableName table, String value) {}

    /// A committed transaction; without rows where it changed nothing that is published.
    record Transaction(int xid, Lsn finalLsn, Lsn endLsn, List<Inserted> rows) {}

    private final RandomGenerator random;
    private final List<Transaction> transactions = new ArrayList<>();
    /// For each table its rows in the order of their commits, and how many there were before each commit.
    private final Map<TableName, List<String>> rows = new HashMap<>();

    private final Map<TableName, TreeMap<Lsn, Integer>> countBefore = new HashMap<>();
    private long wal = 0x1000;
    private Lsn confirmed = new Lsn(wal);
    private int serial;

    SimulatedSource(RandomGenerator random) {
        this.random = random;
    }

    /// Commits a transaction, or writes log that has nothing for the slot.
    void advance(boolean withLate) {
        if (random.nextInt(4) == 0) {
            wal += random.nextInt(1, 10_000);
            return;
        }
        List<Inserted> inserted = new ArrayList<>();
        for (int left = sizeOfTransaction(); left > 0; left--) {
            TableName table = TABLES.get(random.nextInt(TABLES.size()));
            if (!table.equals(LATE) || withLate) {
                String padding = random.nextInt(50) == 0 ? "-".repeat(random.nextInt(3_000)) : "";
                inserted.add(new Inserted(table, ++serial + padding));
            }
        }
        wal += 10L * inserted.size() + random.nextInt(100);
        // Nothing need lie between a commit and the next one.
        Lsn finalLsn = new Lsn(wal);
        wal += random.nextInt(1, 60);
        transactions.add(new Transaction(transactions.size() + 700, finalLsn, new Lsn(wal), List.copyOf(inserted)));
        for (TableName table : TABLES) {
            List<String> all = rows.computeIfAbsent(table, missing -> new ArrayList<>());
            countBefore.computeIfAbsent(table, missing -> new TreeMap<>()).put(finalLsn, all.size());
            inserted.stream().filter(row -> row.table().equals(table)).forEach(row -> all.add(row.value()));
        }
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
                false,
                false);
    }

    List<Transaction> transactions() {
        return Collections.unmodifiableList(transactions);
    }

    /// What the table holds for somebody who has seen every commit that begins before this position.
    List<String> rowsBefore(TableName table, Lsn position) {
        List<String> all = rows.getOrDefault(table, List.of());
        Map.Entry<Lsn, Integer> next =
                countBefore.getOrDefault(table, new TreeMap<>()).ceilingEntry(position);
        return all.subList(0, next == null ? all.size() : next.getValue());
    }

    /// The messages of a transaction; an empty one is sent as old servers do, or not at all.
    List<byte[]> messages(Transaction transaction) {
        List<byte[]> messages = new ArrayList<>();
        if (transaction.rows().isEmpty() && random.nextBoolean()) {
            return messages;
        }
        messages.add(begin(transaction));
        for (Inserted row : transaction.rows()) {
            if (random.nextInt(3) == 0) {
                messages.add(relation(row.table()));
            }
            messages.add(insert(row));
        }
        messages.add(commit(transaction));
        return messages;
    }

    /// What the server sends of each table before its first change.
    static List<byte[]> relations() {
        return TABLES.stream().map(SimulatedSource::relation).toList();
    }

    private static byte[] begin(Transaction transaction) {
        return ByteBuffer.allocate(21)
                .put((byte) 'B')
                .putLong(transaction.finalLsn().value())
                .putLong(0)
                .putInt(transaction.xid())
                .array();
    }

    private static byte[] commit(Transaction transaction) {
        return ByteBuffer.allocate(26)
                .put((byte) 'C')
                .put((byte) 0)
                .putLong(transaction.finalLsn().value())
                .putLong(transaction.endLsn().value())
                .putLong(0)
                .array();
    }

    private static byte[] relation(TableName table) {
        byte[] schema = table.schema().getBytes(StandardCharsets.UTF_8);
        byte[] name = table.name().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(1 + 4 + schema.length + 1 + name.length + 1 + 1 + 2 + 1 + 2 + 4 + 4)
                .put((byte) 'R')
                .putInt(TABLES.indexOf(table))
                .put(schema)
                .put((byte) 0)
                .put(name)
                .put((byte) 0)
                .put((byte) 'd')
                .putShort((short) 1)
                .put((byte) 1)
                .put((byte) 'v')
                .put((byte) 0)
                .putInt(25)
                .putInt(-1)
                .array();
    }

    private static byte[] insert(Inserted row) {
        byte[] value = row.value().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(1 + 4 + 1 + 2 + 1 + 4 + value.length)
                .put((byte) 'I')
                .putInt(TABLES.indexOf(row.table()))
                .put((byte) 'N')
                .putShort((short) 1)
                .put((byte) 't')
                .putInt(value.length)
                .put(value)
                .array();
    }
}
