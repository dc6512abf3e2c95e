package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.apply.target.TextFormatNeeded;
import dev.pgapply.apply.target.postgres.RowStatements.Wanted;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.OldRow;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.ColumnMapping;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.UniqueKey;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Queues the statements of single-row changes of one relation version: values go from the message into the
/// pipeline as the bytes they are. Statements are prepared once per shape, that is per set of columns sent and
/// of NULLs looked for.
final class TableWriter {

    private static final int MAX_SHAPES = 64;

    private enum Verb {
        INSERT,
        UPDATE,
        DELETE,
        REPLACE,
        REPLACE_IF_CHANGED
    }

    /// What makes a statement's text differ within one relation version.
    private record Shape(Verb verb, BitSet set, BitSet nulls) {}

    /// A statement and the wire columns whose values it takes.
    private static final class Prepared {
        final PreparedSql statement;
        final int[] set;
        final int[] wanted;

        Prepared(PreparedSql statement, int[] set, int[] wanted) {
            this.statement = statement;
            this.set = set;
            this.wanted = wanted;
        }
    }

    private final Pipeline pipeline;
    private final Relation relation;
    private final TableSchema table;
    private final Column[] columns;
    private final ColumnMapping mapping;
    private final List<UniqueKey> deferrableKeys;
    private final RowIdentity identity;
    private final RowStatements statements;
    /// Wire columns that a statement may set.
    private final int[] settable;
    /// Wire columns that are `GENERATED ALWAYS AS IDENTITY` on the target.
    private final int[] always;
    private final boolean[] acceptsBinary;

    private final BitSet allSettable = new BitSet();
    private final BitSet noNulls = new BitSet();
    private final Map<Shape, Prepared> prepared = new LinkedHashMap<>(16, 0.75f, true);
    private @Nullable Prepared insert;
    private @Nullable Prepared fullUpdate;
    private @Nullable Prepared uniqueDelete;

    TableWriter(Pipeline pipeline, ColumnMapping mapping, BinaryAcceptance acceptance) {
        this.pipeline = pipeline;
        this.relation = mapping.relation();
        this.table = mapping.target();
        this.mapping = mapping;
        this.deferrableKeys =
                table.keys().stream().filter(UniqueKey::deferrable).toList();
        this.identity = RowIdentity.of(mapping);
        this.statements = new RowStatements(table);
        int width = mapping.wireColumns();
        this.columns = new Column[width];
        this.acceptsBinary = new boolean[width];
        for (int i = 0; i < width; i++) {
            if (!mapping.isIgnored(i)) {
                columns[i] = mapping.targetColumn(i);
                acceptsBinary[i] = acceptance.accepts(
                        Integer.toUnsignedLong(relation.columns().get(i).typeOid()), columns[i].type());
            }
        }
        int[] mapped =
                IntStream.range(0, width).filter(i -> !mapping.isIgnored(i)).toArray();
        this.always = IntStream.of(mapped)
                .filter(i -> columns[i].identity() == Column.Identity.ALWAYS)
                .toArray();
        this.settable = IntStream.of(mapped)
                .filter(i -> columns[i].identity() != Column.Identity.ALWAYS)
                .toArray();
        IntStream.of(settable).forEach(allSettable::set);
    }

    TableSchema table() {
        return table;
    }

    /// Unique constraints that the server does not check in replica role.
    List<UniqueKey> deferrableKeys() {
        return deferrableKeys;
    }

    /// The wire columns of a key, -1 for one that is not sent.
    int[] wireColumns(UniqueKey key) {
        return key.columns().stream()
                .mapToInt(name -> mapping.wireIndex(name).orElse(-1))
                .toArray();
    }

    Relation relation() {
        return relation;
    }

    RowIdentity identity() {
        return identity;
    }

    /// The target column of a wire column that is not ignored.
    Column column(int wireColumn) {
        return columns[wireColumn];
    }

    /// Wire columns that an UPDATE may set.
    int[] settable() {
        return settable;
    }

    /// Whether the target has columns that no UPDATE may set.
    boolean hasFixedColumns() {
        return always.length > 0;
    }

    /// Wire columns that an INSERT writes.
    int[] inserted() {
        return IntStream.concat(IntStream.of(settable), IntStream.of(always))
                .sorted()
                .toArray();
    }

    /// @throws TextFormatNeeded if the value is in a binary form that means something else here
    void requireAccepted(Row row, int wireColumn) {
        if (row.kind(wireColumn) == Row.BINARY && !acceptsBinary[wireColumn]) {
            throw new TextFormatNeeded(
                    table.name(), relation.columns().get(wireColumn).name());
        }
    }

    /// The key of the target by which rows are found, where they are found by one.
    Optional<UniqueKey> lookupKey() {
        return mapping.lookupKey();
    }

    /// Queues what makes the row.
    void insert(NewRow newRow, int tag) throws SQLException {
        Row row = newRow.row();
        Prepared statement = insert;
        if (statement == null) {
            int[] set = inserted();
            statement = prepare(statements.insert(columns(set)), set, new int[0]);
            insert = statement;
        }
        pipeline.bind(statement.statement, statement.set.length);
        bind(row, statement.set);
        pipeline.execute(tag);
    }

    /// Queues what changes the row, one statement or two that affect it once or twice together; none where
    /// nothing can have changed.
    void update(Optional<OldRow> old, NewRow newRow, int tag) throws SQLException {
        Row row = newRow.row();
        Row lookup = old.map(OldRow::row).orElse(row);
        if (always.length > 0) {
            updateBesideIdentity(old, row, lookup, tag);
        } else {
            update(sent(row), row, lookup, tag);
        }
    }

    private void update(BitSet set, Row row, Row lookup, int tag) throws SQLException {
        if (set.isEmpty()) {
            return;
        }
        boolean usual = identity instanceof RowIdentity.Unique && set.equals(allSettable);
        Prepared statement = usual ? fullUpdate : null;
        if (statement == null) {
            statement = prepared(Verb.UPDATE, set, lookup);
            if (usual) {
                fullUpdate = statement;
            }
        }
        run(statement, row, lookup, tag);
    }

    /// A `GENERATED ALWAYS` identity column cannot be set, not even to the value that it has. Whether it has
    /// changed is known where the old row was sent; otherwise the target decides: the first of two statements
    /// acts only if it has.
    private void updateBesideIdentity(Optional<OldRow> old, Row row, Row lookup, int tag) throws SQLException {
        BitSet set = sent(row);
        BitSet all = (BitSet) set.clone();
        boolean changed = false;
        boolean unknown = false;
        for (int column : always) {
            all.set(column);
            boolean key = relation.columns().get(column).key();
            if (old.isPresent() && (key || old.get() instanceof OldRow.Full)) {
                changed |= !row.sameBytes(column, old.get().row(), column);
            } else if (!key) {
                unknown = true;
            }
        }
        if (changed || (unknown && set.isEmpty())) {
            run(prepared(Verb.REPLACE, all, lookup), row, lookup, tag);
            return;
        }
        if (unknown) {
            run(prepared(Verb.REPLACE_IF_CHANGED, all, lookup), row, lookup, tag);
        }
        update(set, row, lookup, tag);
    }

    void delete(OldRow old, int tag) throws SQLException {
        boolean unique = identity instanceof RowIdentity.Unique;
        Prepared statement = unique ? uniqueDelete : null;
        if (statement == null) {
            statement = prepared(Verb.DELETE, noNulls, old.row());
            if (unique) {
                uniqueDelete = statement;
            }
        }
        run(statement, old.row(), old.row(), tag);
    }

    private BitSet sent(Row row) {
        if (!row.hasUnchanged()) {
            return allSettable;
        }
        BitSet set = new BitSet(columns.length);
        for (int column : settable) {
            if (row.kind(column) != Row.UNCHANGED) {
                set.set(column);
            }
        }
        return set;
    }

    private Prepared prepared(Verb verb, BitSet set, Row lookup) {
        if (identity instanceof RowIdentity.Impossible) {
            throw new SchemaMismatch(
                    "table " + table.name() + ": the source sends no old values to find a row by",
                    "On the source: ALTER TABLE " + dev.pgapply.schema.postgres.Quoting.table(table.name())
                            + " REPLICA IDENTITY FULL; or give it a primary key.",
                    table.name(),
                    null);
        }
        BitSet nulls = noNulls;
        if (!(identity instanceof RowIdentity.Unique)) {
            nulls = new BitSet(columns.length);
            for (int column : identity.columns()) {
                nulls.set(column, lookup.kind(column) == Row.NULL);
            }
        }
        Shape shape = new Shape(verb, set, nulls);
        Prepared known = prepared.get(shape);
        if (known == null) {
            known = prepare(verb, set, nulls);
            prepared.put(new Shape(verb, (BitSet) set.clone(), (BitSet) nulls.clone()), known);
            evict();
        }
        return known;
    }

    private Prepared prepare(Verb verb, BitSet set, BitSet nulls) {
        boolean unique = identity instanceof RowIdentity.Unique;
        List<Wanted> wanted = new ArrayList<>();
        for (int column : identity.columns()) {
            wanted.add(new Wanted(columns[column], nulls.get(column)));
        }
        int[] values = set.stream().toArray();
        int[] search = identity.columns().stream()
                .mapToInt(c -> c)
                .filter(c -> !nulls.get(c))
                .toArray();
        RowStatements.Statement statement = switch (verb) {
            case INSERT -> statements.insert(columns(values));
            case UPDATE -> statements.update(columns(values), wanted, unique);
            case DELETE -> statements.delete(wanted, unique);
            case REPLACE -> statements.replace(columns(values), wanted, List.of());
            case REPLACE_IF_CHANGED -> statements.replace(columns(values), wanted, columns(always));
        };
        return prepare(statement, values, search);
    }

    private Prepared prepare(RowStatements.Statement statement, int[] set, int[] wanted) {
        return new Prepared(prepare(pipeline, statement), set, wanted);
    }

    static PreparedSql prepare(Pipeline pipeline, RowStatements.Statement statement) {
        int[] types = statement.parameterTypes().stream().mapToInt(oid -> oid).toArray();
        return pipeline.prepare(statement.sql(), types);
    }

    private void evict() {
        if (prepared.size() > MAX_SHAPES) {
            var eldest = prepared.entrySet().iterator().next();
            prepared.remove(eldest.getKey());
            if (eldest.getValue() == fullUpdate) {
                fullUpdate = null;
            }
            if (eldest.getValue() == uniqueDelete) {
                uniqueDelete = null;
            }
            pipeline.close(eldest.getValue().statement);
        }
    }

    /// The column whose value a parameter of a change's statement carries, counted from 1; empty where a change
    /// takes more than one statement.
    Optional<String> column(Change change, int parameter) {
        int[] parameters = switch (change) {
            case Change.Insert ignored -> inserted();
            case Change.Update update
            when always.length == 0 -> {
                Row row = update.newRow().row();
                Row lookup = update.oldRow().map(OldRow::row).orElse(row);
                yield IntStream.concat(sent(row).stream(), searched(lookup)).toArray();
            }
            case Change.Update ignored -> new int[0];
            case Change.Delete delete -> searched(delete.oldRow().row()).toArray();
            case Change.Truncate ignored -> new int[0];
        };
        return parameter >= 1 && parameter <= parameters.length
                ? Optional.of(columns[parameters[parameter - 1]].name())
                : Optional.empty();
    }

    private IntStream searched(Row lookup) {
        return identity.columns().stream()
                .mapToInt(column -> column)
                .filter(column -> identity instanceof RowIdentity.Unique || lookup.kind(column) != Row.NULL);
    }

    /// Frees the statements on the server.
    void close() {
        prepared.values().forEach(p -> pipeline.close(p.statement));
        prepared.clear();
        Prepared inserting = insert;
        if (inserting != null) {
            pipeline.close(inserting.statement);
            insert = null;
        }
        fullUpdate = null;
        uniqueDelete = null;
    }

    private void run(Prepared statement, Row row, Row lookup, int tag) throws SQLException {
        pipeline.bind(statement.statement, statement.set.length + statement.wanted.length);
        bind(row, statement.set);
        bind(lookup, statement.wanted);
        pipeline.execute(tag);
    }

    private void bind(Row row, int[] wireColumns) {
        byte[] bytes = row.bytes();
        for (int column : wireColumns) {
            switch (row.kind(column)) {
                case Row.TEXT -> pipeline.parameter(Pipeline.TEXT, bytes, row.offset(column), row.length(column));
                case Row.BINARY -> {
                    requireAccepted(row, column);
                    pipeline.parameter(Pipeline.BINARY, bytes, row.offset(column), row.length(column));
                }
                case Row.NULL -> pipeline.nullParameter();
                default ->
                    throw new SchemaMismatch(
                            "table " + table.name() + ": the value of column "
                                    + relation.columns().get(column).name() + " was not sent but is needed",
                            "On the source: ALTER TABLE " + dev.pgapply.schema.postgres.Quoting.table(table.name())
                                    + " REPLICA IDENTITY FULL;",
                            table.name(),
                            null);
            }
        }
    }

    private List<Column> columns(int[] wireColumns) {
        return IntStream.of(wireColumns).mapToObj(i -> columns[i]).toList();
    }
}
