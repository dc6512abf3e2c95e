package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import dev.pgapply.schema.Column;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One array of rows of the target table's own type, for tables whose columns do not fit into arrays of their
/// own: a column that is neither set nor part of the key is NULL in it.
///
/// Source: `record_recv`, `record_in`, `array_recv` and `array_in` of PostgreSQL; documentation, "Composite
/// Types", "Array Value Input".
final class RowArray implements SetParameters {

    private static final int NONE = -1;
    private static final int HEADER_BYTES = 20;

    private final TableWriter writer;
    private final int[] key;
    private final int rowType;
    private final List<Column> columns;
    private final ByteSink sink;
    /// By the target's column: where its value stands in the message, and in which of the two rows.
    private final int[] fromValues;

    private final int[] fromKey;

    private int elements;
    /// Of all values.
    private byte kind = Row.NULL;

    /// @param rowType OID of the table's row type
    /// @param sink is used by one statement at a time, whatever its table
    RowArray(TableWriter writer, int[] key, int rowType, ByteSink sink) {
        this.writer = writer;
        this.key = key.clone();
        this.rowType = rowType;
        this.columns = writer.table().columns();
        this.sink = sink;
        this.fromValues = new int[columns.size()];
        this.fromKey = new int[columns.size()];
        Arrays.fill(fromKey, NONE);
        for (int wire : this.key) {
            fromKey[columns.indexOf(writer.column(wire))] = wire;
        }
    }

    @Override
    public int count(int setColumns) {
        return 1;
    }

    @Override
    public void begin(int[] set) {
        Arrays.fill(fromValues, NONE);
        for (int wire : set) {
            fromValues[columns.indexOf(writer.column(wire))] = wire;
        }
        elements = 0;
        kind = Row.NULL;
        sink.begin(HEADER_BYTES);
    }

    @Override
    public boolean takes(@Nullable Row values, Row keyRow) {
        return elements == 0 || keyRow.kind(key[0]) == kind;
    }

    /// Whether all values of a row have one form; others need a statement of their own.
    boolean isUniform(@Nullable Row values, Row keyRow, int[] set) {
        byte common = Row.NULL;
        for (int wire : key) {
            common = keyRow.kind(wire);
        }
        for (int wire : set) {
            byte one = values == null ? Row.NULL : values.kind(wire);
            if (one != Row.NULL && one != common) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int add(@Nullable Row values, Row keyRow) {
        kind = keyRow.kind(key[0]);
        if (kind == Row.BINARY) {
            addBinary(values, keyRow);
        } else {
            addText(values, keyRow);
        }
        elements++;
        return sink.length();
    }

    private void addBinary(@Nullable Row values, Row keyRow) {
        int at = sink.length();
        sink.int32(0);
        sink.int32(columns.size());
        for (int i = 0; i < fromKey.length; i++) {
            Row row = fromKey[i] != NONE ? keyRow : values;
            int wire = fromKey[i] != NONE ? fromKey[i] : fromValues[i];
            sink.int32((int) columns.get(i).type().oid());
            if (row == null || wire == NONE || row.kind(wire) == Row.NULL) {
                sink.int32(-1);
            } else {
                writer.requireAccepted(row, wire);
                // The length stands before the value in the message too.
                sink.bytes(row.bytes(), row.offset(wire) - 4, row.length(wire) + 4);
            }
        }
        sink.int32At(at, sink.length() - at - 4);
    }

    private void addText(@Nullable Row values, Row keyRow) {
        sink.int8(elements == 0 ? '{' : ',');
        sink.int8('"');
        sink.int8('(');
        for (int i = 0; i < fromKey.length; i++) {
            if (i > 0) {
                sink.int8(',');
            }
            Row row = fromKey[i] != NONE ? keyRow : values;
            int wire = fromKey[i] != NONE ? fromKey[i] : fromValues[i];
            if (row != null && wire != NONE && row.kind(wire) != Row.NULL) {
                quoted(row.bytes(), row.offset(wire), row.length(wire));
            }
        }
        sink.int8(')');
        sink.int8('"');
    }

    /// Quotes within a row, and all that once more within an array.
    private void quoted(byte[] source, int offset, int length) {
        sink.int8('\\');
        sink.int8('"');
        for (int i = offset; i < offset + length; i++) {
            byte b = source[i];
            if (b == '"' || b == '\\') {
                sink.int8('\\');
                sink.int8('\\');
                sink.int8('\\');
            }
            sink.int8(b);
        }
        sink.int8('\\');
        sink.int8('"');
    }

    @Override
    public void bind(Pipeline pipeline) {
        if (kind == Row.BINARY) {
            sink.int32At(0, 1);
            sink.int32At(4, 0);
            sink.int32At(8, rowType);
            sink.int32At(12, elements);
            sink.int32At(16, 1);
            pipeline.parameter(Pipeline.BINARY, sink.array(), 0, sink.length());
        } else {
            sink.int8('}');
            pipeline.parameter(Pipeline.TEXT, sink.array(), HEADER_BYTES, sink.length() - HEADER_BYTES);
        }
    }

    @Override
    public void release() {
        sink.release();
    }
}
