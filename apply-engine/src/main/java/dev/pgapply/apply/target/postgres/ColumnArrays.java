package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An array for each column: those to set first, then those of the key.
final class ColumnArrays implements SetParameters {

    private final TableWriter writer;
    private final int[] key;
    private final List<ArrayParameter> arrays;
    private int[] set = new int[0];

    /// @param arrays are used by one statement at a time, whatever its table
    ColumnArrays(TableWriter writer, int[] key, List<ArrayParameter> arrays) {
        this.writer = writer;
        this.key = key.clone();
        this.arrays = arrays;
    }

    @Override
    public int count(int setColumns) {
        return setColumns + key.length;
    }

    @Override
    public void begin(int[] columns) {
        set = columns;
        for (int i = 0; i < set.length; i++) {
            arrays.get(i).begin((int) writer.column(set[i]).type().oid());
        }
        for (int i = 0; i < key.length; i++) {
            arrays.get(set.length + i).begin((int) writer.column(key[i]).type().oid());
        }
    }

    @Override
    public boolean takes(@Nullable Row values, Row keyRow) {
        for (int i = 0; values != null && i < set.length; i++) {
            if (!arrays.get(i).takes(values.kind(set[i]))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int add(@Nullable Row values, Row keyRow) {
        int bytes = 0;
        for (int i = 0; values != null && i < set.length; i++) {
            bytes += add(arrays.get(i), values, set[i]);
        }
        for (int i = 0; i < key.length; i++) {
            bytes += add(arrays.get(set.length + i), keyRow, key[i]);
        }
        return bytes;
    }

    private int add(ArrayParameter array, Row row, int column) {
        writer.requireAccepted(row, column);
        array.add(row, column);
        return array.length();
    }

    @Override
    public void bind(Pipeline pipeline) {
        for (int i = 0; i < set.length + key.length; i++) {
            arrays.get(i).bind(pipeline);
        }
    }

    @Override
    public void release() {
        for (int i = 0; i < set.length + key.length; i++) {
            arrays.get(i).release();
        }
    }
}
