package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.UniqueKey;
import dev.pgapply.schema.postgres.PostgresSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The changes of a group on their way into sets: each table's own order is kept, that of different tables is
/// not, since no foreign key or trigger looks from one to the other in the session's role. What may not be
/// reduced is queued as it comes, behind what was collected of its table.
final class WriteSets {

    /// How the changes of a table may be written.
    private enum Mode {
        /// Reduced by key.
        NET,
        /// Inserts may be collected; everything else goes one by one.
        INSERTS,
        /// One by one.
        IN_ORDER,
        /// One by one, and in order with all other tables: triggers and rules may touch those.
        ALONE
    }

    /// One target table.
    private static final class Target {
        final TableName name;
        final Confidence confidence = new Confidence();
        /// The relation version whose changes are collected now.
        @Nullable
        Collected collected;

        boolean inGroup;

        Target(TableName name) {
            this.name = name;
        }
    }

    /// One relation version.
    private static final class Collected {
        final Relation relation;
        final Target target;
        final Mode mode;
        final SetWriter writer;
        final NetChanges changes;

        Collected(Relation relation, Target target, Mode mode, SetWriter writer, NetChanges changes) {
            this.relation = relation;
            this.target = target;
            this.mode = mode;
            this.writer = writer;
            this.changes = changes;
        }
    }

    /// What the catalog says of a table beside its structure.
    ///
    /// @param rowType OID of its row type
    private record Placement(boolean partition, int rowType) {}

    /// Up to which statement of the round a table's sets reach.
    private record Queued(int end, TableName table) {}

    /// `int8`, `int2` and `int4` travel alike.
    private static final Set<Long> INTEGERS = Set.of(20L, 21L, 23L);
    /// `text` and `varchar` take every text as it is; `bpchar` does not count trailing blanks.
    private static final Set<Long> TEXTS = Set.of(25L, 1043L);

    private final Pipeline pipeline;
    private final TargetTables tables;
    private final PostgresSession catalog;
    private final PostgresTargetSession exact;
    private final SetWriter.Buffers buffers;
    private final Map<TableName, Target> targets = new HashMap<>();
    private final IdentityHashMap<Relation, Collected> byRelation = new IdentityHashMap<>();
    private final List<Collected> pending = new ArrayList<>();
    private final List<Target> inGroup = new ArrayList<>();
    private final List<Queued> queued = new ArrayList<>();
    private @Nullable Collected last;

    /// Whether rows have come by way of a partitioned table, and into a partition directly. With both, one row
    /// could be meant by two tables.
    private boolean seenTree;

    private boolean seenPartition;

    WriteSets(Pipeline pipeline, TargetTables tables, PostgresSession catalog, PostgresTargetSession exact) {
        this.pipeline = pipeline;
        this.tables = tables;
        this.catalog = catalog;
        this.exact = exact;
        this.buffers = SetWriter.Buffers.of(pipeline);
    }

    /// Begins a group.
    void begin() {
        inGroup.forEach(target -> target.inGroup = false);
        inGroup.clear();
        queued.clear();
    }

    /// Collects a change or queues it.
    ///
    /// @param event its place in the group
    /// @throws Doubt if it does not follow from what was collected
    void add(Change change, int event) throws SQLException {
        switch (change) {
            case Change.Insert insert -> place(insert, table(insert.relation()), event);
            case Change.Update update -> place(update, table(update.relation()), event);
            case Change.Delete delete -> place(delete, table(delete.relation()), event);
            case Change.Truncate truncate -> {
                flush();
                exact.queue(truncate, event);
            }
        }
    }

    private void place(Change change, Collected table, int event) throws SQLException {
        if (!isCollecting(table)) {
            inOrder(table, change, event);
            return;
        }
        switch (offer(table.changes, change)) {
            case JOINED -> collecting(table);
            case BARRIER -> {
                write(table);
                exact.queue(change, event);
            }
            case DOUBT -> throw new Doubt("changes that do not follow from each other", table.target.name);
        }
    }

    private static NetChanges.Outcome offer(NetChanges changes, Change change) {
        return switch (change) {
            case Change.Insert insert -> changes.insert(insert.newRow());
            case Change.Update update -> changes.update(update.oldRow(), update.newRow());
            case Change.Delete delete -> changes.delete(delete.oldRow());
            case Change.Truncate ignored -> NetChanges.Outcome.BARRIER;
        };
    }

    /// Queues everything collected.
    void flush() throws SQLException {
        for (Collected table : pending) {
            write(table);
            table.target.collected = null;
        }
        pending.clear();
    }

    /// The round is over.
    void roundEnded() {
        queued.clear();
    }

    /// The group is written.
    void succeeded() {
        inGroup.forEach(target -> target.confidence.groupWritten());
    }

    /// Drops what is collected, and remembers who was to blame.
    void failed(Optional<TableName> table) {
        pending.forEach(collected -> collected.changes.clear());
        pending.clear();
        queued.clear();
        targets.values().forEach(target -> target.collected = null);
        table.map(targets::get).ifPresent(target -> target.confidence.failed());
    }

    /// The table whose set a statement of the round is.
    Optional<TableName> tableOf(int statement) {
        for (Queued part : queued) {
            if (statement < part.end) {
                return Optional.of(part.table);
            }
        }
        return Optional.empty();
    }

    /// Forgets what is known of tables. Nothing may be collected now.
    void forget() {
        byRelation.values().forEach(collected -> collected.writer.close());
        byRelation.clear();
        targets.values().forEach(target -> target.collected = null);
        last = null;
    }

    private boolean isCollecting(Collected table) {
        return switch (table.mode) {
            case NET, INSERTS -> table.target.confidence.holds();
            case IN_ORDER, ALONE -> false;
        };
    }

    @SuppressWarnings("ReferenceEquality")
    private void collecting(Collected table) {
        if (table.target.collected != table) {
            table.target.collected = table;
            pending.add(table);
        }
    }

    private void inOrder(Collected table, Change change, int event) throws SQLException {
        if (table.mode == Mode.ALONE) {
            flush();
        } else {
            write(table);
        }
        exact.queue(change, event);
    }

    private void write(Collected table) throws SQLException {
        if (!table.changes.isEmpty()) {
            table.writer.write(table.changes);
            table.changes.clear();
            queued.add(new Queued(pipeline.executed(), table.target.name));
        }
    }

    /// Relations are compared by identity, as [TargetTables] does.
    @SuppressWarnings("ReferenceEquality")
    private Collected table(Relation relation) throws SQLException {
        Collected table = last;
        if (table == null || table.relation != relation) {
            table = byRelation.get(relation);
            if (table == null || !tables.knows(relation)) {
                // The catalog may say something new of any table, and writers be given up.
                flush();
                table = make(relation);
            }
            last = table;
        }
        Target target = table.target;
        if (!target.inGroup) {
            target.inGroup = true;
            inGroup.add(target);
        }
        Collected other = target.collected;
        if (other != null && other != table) {
            write(other);
        }
        return table;
    }

    private Collected make(Relation relation) throws SQLException {
        TableWriter writer = tables.writer(relation);
        byRelation.values().removeIf(this::isOutdated);
        TableSchema schema = writer.table();
        Target target = targets.computeIfAbsent(schema.name(), Target::new);
        target.collected = null;
        int[] key = reducibleKey(writer);
        Placement placement = placement(schema.oid());
        Mode mode = mode(writer, key, placement.partition());
        SetWriter sets =
                new SetWriter(pipeline, writer, mode == Mode.NET ? key : new int[0], placement.rowType(), buffers);
        Collected made =
                new Collected(relation, target, mode, sets, new NetChanges(mode == Mode.NET ? key : new int[0]));
        byRelation.put(relation, made);
        return made;
    }

    private boolean isOutdated(Collected known) {
        if (tables.knows(known.relation)) {
            return false;
        }
        known.writer.close();
        return true;
    }

    private Mode mode(TableWriter writer, int[] key, boolean partition) {
        TableSchema table = writer.table();
        if (table.firesTriggers() || table.firesRules() || table.hasForeignPartition()) {
            return Mode.ALONE;
        }
        boolean tree = table.kind() == TableSchema.Kind.PARTITIONED;
        seenTree |= tree;
        seenPartition |= partition;
        if ((tree || partition) && seenTree && seenPartition) {
            return Mode.ALONE;
        }
        if (!writer.deferrableKeys().isEmpty() || table.hasExclusionConstraint()) {
            return Mode.IN_ORDER;
        }
        return key.length == 0 || writer.hasFixedColumns() ? Mode.INSERTS : Mode.NET;
    }

    private Placement placement(long oid) throws SQLException {
        try (PreparedStatement query = catalog.connection()
                .prepareStatement("SELECT relispartition, reltype::pg_catalog.int8 FROM pg_catalog.pg_class"
                        + " WHERE oid OPERATOR(pg_catalog.=) ?::pg_catalog.oid")) {
            query.setLong(1, oid);
            try (ResultSet row = query.executeQuery()) {
                return row.next() ? new Placement(row.getBoolean(1), (int) row.getLong(2)) : new Placement(false, 0);
            }
        }
    }

    /// The wire columns of the key by which changes can be reduced; none if equal values of it can have
    /// different bytes.
    private static int[] reducibleKey(TableWriter writer) {
        Optional<UniqueKey> key = writer.lookupKey();
        if (key.isEmpty() || !key.get().deterministic()) {
            return new int[0];
        }
        int[] columns = writer.wireColumns(key.get());
        for (int column : columns) {
            Column target = writer.column(column);
            long sent = Integer.toUnsignedLong(
                    writer.relation().columns().get(column).typeOid());
            if (!isSameInBytes(sent, target.type())) {
                return new int[0];
            }
        }
        return columns;
    }

    private static boolean isSameInBytes(long sent, TypeReference target) {
        long oid = target.kind() == TypeReference.Kind.DOMAIN ? target.baseOid() : target.oid();
        if (TEXTS.contains(oid) || target.kind() == TypeReference.Kind.ENUM) {
            return true;
        }
        if (INTEGERS.contains(target.oid())) {
            return INTEGERS.contains(sent);
        }
        return sent == target.oid() && !Equality.canLookDifferent(target);
    }
}
