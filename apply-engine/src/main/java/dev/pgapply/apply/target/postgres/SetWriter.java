package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.postgres.NetChanges.Net;
import dev.pgapply.decoder.Row;
import dev.pgapply.schema.Column;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Queues the net changes of one relation version: deletes, probes, updates, inserts, each as few statements.
///
/// Updates and deletes go by arrays, sorted by key: one of each column, or one of whole rows where a column does
/// not fit into an array or there are many.
final class SetWriter {

    /// With more columns, an array of rows costs less.
    private static final int MAX_ARRAYS = 16;

    /// One statement's arrays end here.
    private static final int MAX_ARRAY_BYTES = 4 << 20;

    /// A larger row goes by itself, without a copy of its values.
    private static final int LARGE_ROW_BYTES = 1 << 20;

    private static final int MAX_SHAPES = 64;

    private enum Verb {
        UPDATE,
        DELETE,
        /// The key must be absent.
        PROBE,
        /// The key must be there.
        EXISTING
    }

    /// @param one the statement is for a single row
    private record Shape(Verb verb, BitSet set, boolean one) {}

    /// Memory that all tables of a session share.
    record Buffers(CopyRows copy, List<ArrayParameter> arrays, ByteSink rows) {
        static Buffers of(Pipeline pipeline) {
            return new Buffers(
                    new CopyRows(pipeline),
                    IntStream.range(0, MAX_ARRAYS)
                            .mapToObj(i -> new ArrayParameter())
                            .toList(),
                    new ByteSink());
        }
    }

    private final Pipeline pipeline;
    private final TableWriter writer;
    private final SetStatements statements;
    private final InsertSet inserts;
    private final SetParameters parameters;
    /// Wire columns of the key; none if the table takes inserts only.
    private final int[] key;
    /// Wire columns that an UPDATE of a whole row sets.
    private final BitSet settable = new BitSet();

    private final Map<Shape, PreparedSql> prepared = new LinkedHashMap<>(16, 0.75f, true);

    /// @param rowType OID of the table's row type
    SetWriter(Pipeline pipeline, TableWriter writer, int[] key, int rowType, Buffers buffers) {
        this.pipeline = pipeline;
        this.writer = writer;
        this.key = key.clone();
        IntStream.of(writer.settable()).forEach(settable::set);
        if (settable.cardinality() > key.length) {
            IntStream.of(key).forEach(settable::clear);
        }
        boolean fitArrays = settable.cardinality() + key.length <= MAX_ARRAYS
                && IntStream.concat(settable.stream(), IntStream.of(key))
                        .allMatch(column ->
                                SetStatements.fitsArray(writer.column(column).type()));
        this.parameters = fitArrays
                ? new ColumnArrays(writer, key, buffers.arrays)
                : new RowArray(writer, key, rowType, buffers.rows);
        this.statements = new SetStatements(writer.table(), !fitArrays);
        this.inserts = new InsertSet(pipeline, writer, statements, buffers.copy);
    }

    /// Queues everything; `changes` can be cleared afterwards.
    void write(NetChanges changes) throws SQLException {
        byKey(Verb.DELETE, changes, entries(changes, Net.DELETE, Net.REPLACE));
        byKey(Verb.PROBE, changes, entries(changes, Net.PROBE, Net.PROBE));
        updates(changes, entries(changes, Net.UPDATE, Net.UPDATE));
        inserts.write(changes, entries(changes, Net.INSERT, Net.REPLACE));
    }

    /// Frees the statements on the server.
    void close() {
        prepared.values().forEach(pipeline::close);
        prepared.clear();
        inserts.close(pipeline);
    }

    private static int[] entries(NetChanges changes, Net one, Net other) {
        int[] found = new int[changes.size()];
        int count = 0;
        for (int i = 0; i < found.length; i++) {
            Net net = changes.net(i);
            if (net == one || net == other) {
                found[count++] = i;
            }
        }
        return Arrays.copyOf(found, count);
    }

    private void byKey(Verb verb, NetChanges changes, int[] entries) throws SQLException {
        if (entries.length > 0) {
            KeyOrder.sort(changes, entries, key[0]);
            write(verb, new BitSet(), changes, entries);
        }
    }

    private void updates(NetChanges changes, int[] entries) throws SQLException {
        if (entries.length == 0) {
            return;
        }
        KeyOrder.sort(changes, entries, key[0]);
        boolean usual = true;
        for (int entry : entries) {
            usual &= !changes.row(entry).hasUnchanged();
        }
        if (usual) {
            write(Verb.UPDATE, settable, changes, entries);
            return;
        }
        Map<BitSet, List<Integer>> shapes = new HashMap<>();
        for (int entry : entries) {
            shapes.computeIfAbsent(sent(changes.row(entry)), shape -> new ArrayList<>())
                    .add(entry);
        }
        for (var shape : shapes.entrySet()) {
            int[] members = shape.getValue().stream().mapToInt(entry -> entry).toArray();
            // Nothing may be known to be new of a row; that it is missing would be noticed all the same.
            Verb verb = shape.getKey().isEmpty() ? Verb.EXISTING : Verb.UPDATE;
            write(verb, shape.getKey(), changes, members);
        }
    }

    private BitSet sent(Row row) {
        BitSet sent = (BitSet) settable.clone();
        for (int column = sent.nextSetBit(0); column >= 0; column = sent.nextSetBit(column + 1)) {
            if (row.kind(column) == Row.UNCHANGED) {
                sent.clear(column);
            }
        }
        return sent;
    }

    /// One statement for all entries; more if they are many, and one for each that is large.
    private void write(Verb verb, BitSet set, NetChanges changes, int[] entries) throws SQLException {
        int[] columns = set.stream().toArray();
        int done = 0;
        while (done < entries.length) {
            if (standsAlone(verb, columns, changes, entries[done])) {
                single(verb, set, changes, entries[done]);
                done++;
                continue;
            }
            parameters.begin(columns);
            int from = done;
            int bytes = 0;
            while (done < entries.length
                    && bytes < MAX_ARRAY_BYTES
                    && !standsAlone(verb, columns, changes, entries[done])
                    && parameters.takes(values(verb, changes, entries[done]), changes.key(entries[done]))) {
                bytes = parameters.add(values(verb, changes, entries[done]), changes.key(entries[done]));
                done++;
            }
            pipeline.bind(prepared(new Shape(verb, set, false)), parameters.count(columns.length) + 1);
            parameters.bind(pipeline);
            execute(verb, done - from);
            parameters.release();
        }
    }

    private static @Nullable Row values(Verb verb, NetChanges changes, int entry) {
        return verb == Verb.UPDATE ? changes.row(entry) : null;
    }

    private boolean standsAlone(Verb verb, int[] set, NetChanges changes, int entry) {
        if (verb != Verb.UPDATE) {
            return false;
        }
        Row row = changes.row(entry);
        return row.retainedBytes() > LARGE_ROW_BYTES
                || (parameters instanceof RowArray rows && !rows.isUniform(row, changes.key(entry), set));
    }

    private void single(Verb verb, BitSet set, NetChanges changes, int entry) throws SQLException {
        pipeline.bind(prepared(new Shape(verb, set, true)), set.cardinality() + key.length + 1);
        for (int column = set.nextSetBit(0); column >= 0; column = set.nextSetBit(column + 1)) {
            parameter(changes.row(entry), column);
        }
        for (int column : key) {
            parameter(changes.key(entry), column);
        }
        execute(verb, 1);
    }

    private void execute(Verb verb, int rows) throws SQLException {
        pipeline.parameter(Integer.toString(verb == Verb.PROBE ? 0 : rows));
        pipeline.execute(Pipeline.NO_TAG);
    }

    private void parameter(Row row, int column) {
        writer.requireAccepted(row, column);
        if (row.kind(column) == Row.NULL) {
            pipeline.nullParameter();
        } else {
            byte format = row.kind(column) == Row.BINARY ? Pipeline.BINARY : Pipeline.TEXT;
            pipeline.parameter(format, row.bytes(), row.offset(column), row.length(column));
        }
    }

    private PreparedSql prepared(Shape shape) {
        PreparedSql known = prepared.get(shape);
        if (known == null) {
            known = prepare(shape);
            prepared.put(new Shape(shape.verb, (BitSet) shape.set.clone(), shape.one), known);
            if (prepared.size() > MAX_SHAPES) {
                var eldest = prepared.entrySet().iterator();
                pipeline.close(eldest.next().getValue());
                eldest.remove();
            }
        }
        return known;
    }

    private PreparedSql prepare(Shape shape) {
        List<Column> set = columns(shape.set.stream().toArray());
        List<Column> found = columns(key);
        if (shape.one) {
            return TableWriter.prepare(pipeline, statements.updateOne(set, found));
        }
        return pipeline.prepare(
                switch (shape.verb) {
                    case UPDATE -> statements.update(set, found);
                    case DELETE -> statements.delete(found);
                    case PROBE, EXISTING -> statements.probe(found);
                });
    }

    private List<Column> columns(int[] wireColumns) {
        return IntStream.of(wireColumns).mapToObj(writer::column).toList();
    }
}
