package dev.pgapply.cli.embedded;

import dev.pgapply.decoder.TableName;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Compares tables of two databases row by row: as multisets, every column as text under fixed settings (ISO
/// dates, UTC, hexadecimal bytea, exact floats). Both sides are read once, in the same order, in bounded
/// memory.
///
/// What is compared are the columns of the source, by name; further columns of the target do not count.
public final class TableComparison {

    private static final int REPORTED = 5;

    private final RowSource source;
    private final RowSource target;

    public TableComparison(RowSource source, RowSource target) {
        this.source = source;
        this.target = target;
    }

    /// Compares two PostgreSQL databases. The connections get other session settings, must be in no
    /// transaction, and stay open.
    public static TableComparison ofPostgres(Connection source, Connection target) {
        try {
            boolean sameFloats = source.getMetaData().getDatabaseMajorVersion() < 12
                    == target.getMetaData().getDatabaseMajorVersion() < 12;
            PostgresRows.Floats floats = sameFloats ? PostgresRows.Floats.TEXT : PostgresRows.Floats.BYTES;
            return new TableComparison(new PostgresRows(source, floats), new PostgresRows(target, floats));
        } catch (SQLException e) {
            throw new ServerException("cannot prepare the comparison", e);
        }
    }

    /// Which side has a row that the other has not, or has fewer times.
    public enum Side {
        SOURCE,
        TARGET
    }

    /// One row too much on one side, as PostgreSQL's row text.
    public record Difference(Side onlyOn, String row) {}

    /// What the comparison of one table found.
    ///
    /// @param missingColumns columns that the target does not have; the rows were not compared then
    /// @param first the first differences, at most five a side, in the order of the rows' text
    public record Result(
            TableName table,
            long sourceRows,
            long targetRows,
            long onlySource,
            long onlyTarget,
            List<String> missingColumns,
            List<Difference> first) {

        public Result {
            missingColumns = List.copyOf(missingColumns);
            first = List.copyOf(first);
        }

        public boolean identical() {
            return onlySource == 0 && onlyTarget == 0 && missingColumns.isEmpty();
        }

        /// For people, over several lines where rows differ; shows rows.
        public String describe() {
            if (identical()) {
                return table + ": identical, " + sourceRows + " rows";
            }
            StringBuilder text = new StringBuilder(table.toString());
            if (!missingColumns.isEmpty()) {
                return text.append(": the target has no column ")
                        .append(String.join(", ", missingColumns))
                        .toString();
            }
            text.append(": %d rows only on the source (of %d), %d only on the target (of %d)"
                    .formatted(onlySource, sourceRows, onlyTarget, targetRows));
            for (Difference difference : first) {
                text.append('\n').append(difference.onlyOn()).append(' ').append(difference.row());
            }
            return text.toString();
        }
    }

    /// Compares all user tables of the source.
    public List<Result> compareAll() {
        return source.tables().stream().map(this::compare).toList();
    }

    /// Compares one table that the source has.
    public Result compare(TableName table) {
        List<String> columns = source.columns(table);
        List<String> missing = new ArrayList<>(columns);
        missing.removeAll(target.columns(table));
        if (!missing.isEmpty()) {
            return new Result(table, 0, 0, 0, 0, missing, List.of());
        }
        try (RowSource.Rows left = source.rows(table, columns);
                RowSource.Rows right = target.rows(table, columns)) {
            return new Merge(left, right).result(table);
        }
    }

    /// Walks two sorted cursors side by side.
    private static final class Merge {
        private final RowSource.Rows left;
        private final RowSource.Rows right;
        private long sourceRows;
        private long targetRows;
        private long onlySource;
        private long onlyTarget;
        private final List<Difference> first = new ArrayList<>();

        Merge(RowSource.Rows left, RowSource.Rows right) {
            this.left = left;
            this.right = right;
        }

        Result result(TableName table) {
            byte[] source = nextSource();
            byte[] target = nextTarget();
            while (source != null || target != null) {
                int order = order(source, target);
                if (order == 0) {
                    source = nextSource();
                    target = nextTarget();
                } else if (order < 0) {
                    onlySource++;
                    report(onlySource, Side.SOURCE, source);
                    source = nextSource();
                } else {
                    onlyTarget++;
                    report(onlyTarget, Side.TARGET, target);
                    target = nextTarget();
                }
            }
            return new Result(table, sourceRows, targetRows, onlySource, onlyTarget, List.of(), first);
        }

        // The end of a side comes after all rows.
        private static int order(byte @Nullable [] source, byte @Nullable [] target) {
            if (source == null) {
                return 1;
            }
            return target == null ? -1 : Arrays.compareUnsigned(source, target);
        }

        private byte @Nullable [] nextSource() {
            byte[] row = left.next();
            sourceRows += row == null ? 0 : 1;
            return row;
        }

        private byte @Nullable [] nextTarget() {
            byte[] row = right.next();
            targetRows += row == null ? 0 : 1;
            return row;
        }

        private void report(long count, Side side, byte @Nullable [] row) {
            if (count <= REPORTED && row != null) {
                first.add(new Difference(side, new String(row, StandardCharsets.UTF_8)));
            }
        }
    }
}
