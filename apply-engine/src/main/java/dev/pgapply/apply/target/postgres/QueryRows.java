package dev.pgapply.apply.target.postgres;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rows that one statement of a pipeline returned, as wire bytes in the format that was asked for.
final class QueryRows {

    /// A pipeline is for writing; what returns more than this belongs to the driver.
    static final int MAX_ROWS = 10_000;

    private final List<byte[] @Nullable []> rows = new ArrayList<>();
    private boolean truncated;

    int size() {
        return rows.size();
    }

    boolean isNull(int row, int column) {
        return rows.get(row)[column] == null;
    }

    /// @throws IllegalStateException for an SQL NULL
    byte[] bytes(int row, int column) {
        byte[] value = rows.get(row)[column];
        if (value == null) {
            throw new IllegalStateException("column " + column + " is NULL");
        }
        return value;
    }

    /// A value in text format.
    String text(int row, int column) {
        return new String(bytes(row, column), StandardCharsets.UTF_8);
    }

    /// Called before each row; remembers that one had no room.
    boolean hasRoom() {
        truncated |= rows.size() >= MAX_ROWS;
        return !truncated;
    }

    boolean isTruncated() {
        return truncated;
    }

    void add(byte[] @Nullable [] row) {
        rows.add(row);
    }
}
