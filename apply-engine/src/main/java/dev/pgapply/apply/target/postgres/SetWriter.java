package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.postgres.NetChanges.Net;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.Row;
import dev.pgapply.schema.Column;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// Queues the net changes of one relation version: deletes, probes, updates, inserts, each as few statements.
///
/// Updates and deletes go by arrays, sorted by key. Where a column does not fit into an array, or there are too
/// many of them, each row has a statement of its own, which checks itself too.
final class SetWriter {

    /// So few rows are inserted one by one: a COPY costs more than its rows then.
    private static final int MIN_COPY_ROWS = 5;

    /// With more columns, taking arrays apart costs more than a statement for each row.
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
        EXISTING,
        UPDATE_ONE,
        DELETE_ONE,
        PROBE_ONE,
        EXISTING_ONE;

        Verb one() {
            return switch (this) {
                case UPDATE, UPDATE_ONE -> UPDATE_ONE;
                case DELETE, DELETE_ONE -> DELETE_ONE;
                case PROBE, PROBE_ONE -> PROBE_ONE;
                case EXISTING, EXISTING_ONE -> EXISTING_ONE;
            };
        }

        boolean expectsRows() {
            return this != PROBE && this != PROBE_ONE;
        }
    }

    private record Shape(Verb verb, BitSet set) {}

    /// Memory that all tables of a session share.
    record Buffers(CopyRows copy, List<ArrayParameter> arrays) {
        static Buffers of(Pipeline pipeline) {
            return new Buffers(
                    new CopyRows(pipeline),
                    IntStream.range(0, MAX_ARRAYS)
                            .mapToObj(i -> new ArrayParameter())
                            .toList());
        }
    }

    private final Pipeline pipeline;
    private final TableWriter writer;
    private final Buffers buffers;
    private final SetStatements statements;
    private final int[] inserted;
    /// Wire columns of the key; none if the table takes inserts only.
    private final int[] key;
    /// Wire columns that an UPDATE of a whole row sets.
    private final BitSet settable = new BitSet();

    private final boolean fitArrays;
    private final Map<Shape, PreparedSql> prepared = new LinkedHashMap<>(16, 0.75f, true);
    private final PreparedSql textCopy;
    private final PreparedSql binaryCopy;

    SetWriter(Pipeline pipeline, TableWriter writer, int[] key, Buffers buffers) {
        this.pipeline = pipeline;
        this.writer = writer;
        this.key = key.clone();
        this.buffers = buffers;
        this.statements = new SetStatements(writer.table());
        this.inserted = writer.inserted();
        IntStream.of(writer.settable()).forEach(settable::set);
        if (settable.cardinality() > key.length) {
            IntStream.of(key).forEach(settable::clear);
        }
        this.fitArrays = settable.cardinality() + key.length <= MAX_ARRAYS
                && IntStream.concat(settable.stream(), IntStream.of(key))
                        .allMatch(column ->
                                SetStatements.fitsArray(writer.column(column).type()));
        this.textCopy = pipeline.prepare(statements.copy(columns(inserted), false));
        this.binaryCopy = pipeline.prepare(statements.copy(columns(inserted), true));
    }

    /// Queues everything; `changes` can be cleared afterwards.
    void write(NetChanges changes) throws SQLException {
        int[] deletes = entries(changes, Net.DELETE, Net.REPLACE);
        if (deletes.length > 0) {
            byKey(Verb.DELETE, changes, deletes);
        }
        int[] probes = entries(changes, Net.PROBE, Net.PROBE);
        if (probes.length > 0) {
            byKey(Verb.PROBE, changes, probes);
        }
        int[] updates = entries(changes, Net.UPDATE, Net.UPDATE);
        if (updates.length > 0) {
            updates(changes, updates);
        }
        int[] inserts = entries(changes, Net.INSERT, Net.REPLACE);
        if (inserts.length > 0) {
            inserts(changes, inserts);
        }
    }

    /// Frees the statements on the server.
    void close() {
        prepared.values().forEach(pipeline::close);
        prepared.clear();
        pipeline.close(textCopy);
        pipeline.close(binaryCopy);
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
        return java.util.Arrays.copyOf(found, count);
    }

    private void byKey(Verb verb, NetChanges changes, int[] entries) throws SQLException {
        KeyOrder.sort(changes, entries, key[0]);
        if (fitArrays) {
            arrays(new Shape(verb, new BitSet()), changes, entries, new int[0]);
            return;
        }
        for (int entry : entries) {
            single(new Shape(verb.one(), new BitSet()), changes, entry);
        }
    }

    private void updates(NetChanges changes, int[] entries) throws SQLException {
        KeyOrder.sort(changes, entries, key[0]);
        boolean usual = true;
        for (int entry : entries) {
            usual &= !changes.row(entry).hasUnchanged();
        }
        if (usual) {
            update(settable, changes, entries);
            return;
        }
        Map<BitSet, List<Integer>> shapes = new HashMap<>();
        for (int entry : entries) {
            shapes.computeIfAbsent(sent(changes.row(entry)), shape -> new ArrayList<>())
                    .add(entry);
        }
        for (var shape : shapes.entrySet()) {
            int[] members = shape.getValue().stream().mapToInt(entry -> entry).toArray();
            update(shape.getKey(), changes, members);
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

    private void update(BitSet set, NetChanges changes, int[] entries) throws SQLException {
        if (set.isEmpty()) {
            // Nothing of these rows is known to be new, but that they are missing would be noticed.
            byKey(Verb.EXISTING, changes, entries);
            return;
        }
        int[] columns = set.stream().toArray();
        if (fitArrays) {
            List<Integer> large = new ArrayList<>();
            int[] small = new int[entries.length];
            int count = 0;
            for (int entry : entries) {
                if (changes.row(entry).retainedBytes() > LARGE_ROW_BYTES) {
                    large.add(entry);
                } else {
                    small[count++] = entry;
                }
            }
            arrays(new Shape(Verb.UPDATE, set), changes, java.util.Arrays.copyOf(small, count), columns);
            for (int entry : large) {
                single(new Shape(Verb.UPDATE_ONE, set), changes, entry);
            }
            return;
        }
        for (int entry : entries) {
            single(new Shape(Verb.UPDATE_ONE, set), changes, entry);
        }
    }

    /// One statement, or a few, for all entries: arrays of the new values, then of the keys.
    private void arrays(Shape shape, NetChanges changes, int[] entries, int[] set) throws SQLException {
        int done = 0;
        while (done < entries.length) {
            begin(set);
            int from = done;
            int bytes = 0;
            while (done < entries.length && bytes < MAX_ARRAY_BYTES && takes(changes, entries[done], set)) {
                bytes = add(changes, entries[done], set);
                done++;
            }
            int count = done - from;
            pipeline.bind(prepared(shape), set.length + key.length + 1);
            for (int i = 0; i < set.length + key.length; i++) {
                buffers.arrays.get(i).bind(pipeline);
            }
            pipeline.parameter(Integer.toString(shape.verb.expectsRows() ? count : 0));
            pipeline.execute(Pipeline.NO_TAG);
        }
    }

    private void begin(int[] set) {
        for (int i = 0; i < set.length; i++) {
            buffers.arrays.get(i).begin((int) writer.column(set[i]).type().oid());
        }
        for (int i = 0; i < key.length; i++) {
            buffers.arrays.get(set.length + i).begin((int)
                    writer.column(key[i]).type().oid());
        }
    }

    private boolean takes(NetChanges changes, int entry, int[] set) {
        for (int i = 0; i < set.length; i++) {
            if (!buffers.arrays.get(i).takes(changes.row(entry).kind(set[i]))) {
                return false;
            }
        }
        return true;
    }

    private int add(NetChanges changes, int entry, int[] set) {
        int bytes = 0;
        for (int i = 0; i < set.length; i++) {
            bytes += add(buffers.arrays.get(i), changes.row(entry), set[i]);
        }
        for (int i = 0; i < key.length; i++) {
            bytes += add(buffers.arrays.get(set.length + i), changes.key(entry), key[i]);
        }
        return bytes;
    }

    private int add(ArrayParameter array, Row row, int column) {
        requireAccepted(row, column);
        array.add(row, column);
        return array.length();
    }

    private void single(Shape shape, NetChanges changes, int entry) throws SQLException {
        int[] set = shape.set.stream().toArray();
        pipeline.bind(prepared(shape), set.length + key.length + 1);
        for (int column : set) {
            parameter(changes.row(entry), column);
        }
        for (int column : key) {
            parameter(changes.key(entry), column);
        }
        pipeline.parameter(shape.verb.expectsRows() ? "1" : "0");
        pipeline.execute(Pipeline.NO_TAG);
    }

    private void parameter(Row row, int column) {
        requireAccepted(row, column);
        if (row.kind(column) == Row.NULL) {
            pipeline.nullParameter();
        } else {
            byte format = row.kind(column) == Row.BINARY ? Pipeline.BINARY : Pipeline.TEXT;
            pipeline.parameter(format, row.bytes(), row.offset(column), row.length(column));
        }
    }

    private void requireAccepted(Row row, int column) {
        if (row.kind(column) == Row.BINARY && !writer.acceptsBinary(column)) {
            throw writer.textFormatNeeded(column);
        }
    }

    private void inserts(NetChanges changes, int[] entries) throws SQLException {
        if (entries.length < MIN_COPY_ROWS || inserted.length == 0) {
            for (int entry : entries) {
                insert(changes.row(entry));
            }
            return;
        }
        int done = 0;
        while (done < entries.length) {
            Row first = changes.row(entries[done]);
            byte kind = commonKind(first);
            if (kind == Row.UNCHANGED || first.retainedBytes() > LARGE_ROW_BYTES) {
                insert(first);
                done++;
                continue;
            }
            boolean binary = kind != Row.TEXT;
            if (binary) {
                buffers.copy.beginBinary(binaryCopy);
            } else {
                buffers.copy.beginText(textCopy);
            }
            while (done < entries.length) {
                Row row = changes.row(entries[done]);
                byte next = commonKind(row);
                if ((next != kind && next != Row.NULL) || row.retainedBytes() > LARGE_ROW_BYTES) {
                    break;
                }
                if (binary) {
                    buffers.copy.binary(row, inserted);
                } else {
                    buffers.copy.text(row, inserted);
                }
                done++;
            }
            buffers.copy.end(binary);
        }
    }

    /// In which form all values of a row are: [Row#TEXT] or [Row#BINARY], [Row#NULL] if there is none, and
    /// [Row#UNCHANGED] if they differ.
    private byte commonKind(Row row) {
        byte common = Row.NULL;
        for (int column : inserted) {
            byte kind = row.kind(column);
            if (kind == Row.NULL) {
                continue;
            }
            if (common != Row.NULL && kind != common) {
                return Row.UNCHANGED;
            }
            if (kind == Row.BINARY && !writer.acceptsBinary(column)) {
                throw writer.textFormatNeeded(column);
            }
            common = kind;
        }
        return common;
    }

    private void insert(Row row) throws SQLException {
        writer.insert(new NewRow.Full(row), (int) Pipeline.NO_TAG);
    }

    private PreparedSql prepared(Shape shape) {
        PreparedSql known = prepared.get(shape);
        if (known == null) {
            known = prepare(shape);
            prepared.put(new Shape(shape.verb, (BitSet) shape.set.clone()), known);
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
        List<RowStatements.Wanted> wanted = found.stream()
                .map(column -> new RowStatements.Wanted(column, false))
                .toList();
        RowStatements single = writer.statements();
        return switch (shape.verb) {
            case UPDATE -> pipeline.prepare(statements.update(set, found));
            case DELETE -> pipeline.prepare(statements.delete(found));
            case PROBE, EXISTING -> pipeline.prepare(statements.probe(found));
            case UPDATE_ONE ->
                TableWriter.prepare(pipeline, SetStatements.checked(single.update(set, wanted, true), " RETURNING 1"));
            case DELETE_ONE ->
                TableWriter.prepare(pipeline, SetStatements.checked(single.delete(wanted, true), " RETURNING 1"));
            case PROBE_ONE, EXISTING_ONE ->
                TableWriter.prepare(pipeline, SetStatements.checked(single.find(wanted), ""));
        };
    }

    private List<Column> columns(int[] wireColumns) {
        return IntStream.of(wireColumns).mapToObj(writer::column).toList();
    }
}
