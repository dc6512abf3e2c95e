package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.Row;
import dev.pgapply.schema.Column;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;

/// Queues the inserts of one relation version: as a COPY in binary format where all values came so, else in text
/// format. A few rows, large ones, and rows that mix both forms have a statement each.
final class InsertSet {

    /// So few rows are inserted one by one: a COPY costs more than its rows then.
    private static final int MIN_COPY_ROWS = 4;

    /// A larger row goes by itself: the server puts a row of a COPY together before it takes it apart.
    private static final int LARGE_ROW_BYTES = 16 << 20;

    private final TableWriter writer;
    private final CopyRows copy;
    private final int[] columns;
    private final PreparedSql textCopy;
    private final PreparedSql binaryCopy;

    InsertSet(Pipeline pipeline, TableWriter writer, SetStatements statements, CopyRows copy) {
        this.writer = writer;
        this.copy = copy;
        this.columns = writer.inserted();
        List<Column> names = IntStream.of(columns).mapToObj(writer::column).toList();
        this.textCopy = pipeline.prepare(statements.copy(names, false));
        this.binaryCopy = pipeline.prepare(statements.copy(names, true));
    }

    void close(Pipeline pipeline) {
        pipeline.close(textCopy);
        pipeline.close(binaryCopy);
    }

    /// @param entries of `changes`
    void write(NetChanges changes, int[] entries) throws SQLException {
        if (entries.length < MIN_COPY_ROWS || columns.length == 0) {
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
            } else if (kind == Row.TEXT) {
                done = text(changes, entries, done);
            } else {
                done = binary(changes, entries, done);
            }
        }
    }

    private int text(NetChanges changes, int[] entries, int from) throws SQLException {
        copy.beginText(textCopy);
        int done = from;
        while (done < entries.length && isOf(changes.row(entries[done]), Row.TEXT)) {
            copy.text(changes.row(entries[done]), columns);
            done++;
        }
        copy.end(false);
        return done;
    }

    private int binary(NetChanges changes, int[] entries, int from) throws SQLException {
        copy.beginBinary(binaryCopy);
        int done = from;
        while (done < entries.length && isOf(changes.row(entries[done]), Row.BINARY)) {
            copy.binary(changes.row(entries[done]), columns);
            done++;
        }
        copy.end(true);
        return done;
    }

    private boolean isOf(Row row, byte kind) {
        byte common = commonKind(row);
        return (common == kind || common == Row.NULL) && row.retainedBytes() <= LARGE_ROW_BYTES;
    }

    /// In which form all values of a row are: [Row#TEXT] or [Row#BINARY], [Row#NULL] if there is none, and
    /// [Row#UNCHANGED] if they differ.
    private byte commonKind(Row row) {
        byte common = Row.NULL;
        for (int column : columns) {
            byte kind = row.kind(column);
            if (kind == Row.NULL) {
                continue;
            }
            if (common != Row.NULL && kind != common) {
                return Row.UNCHANGED;
            }
            writer.requireAccepted(row, column);
            common = kind;
        }
        return common;
    }

    private void insert(Row row) throws SQLException {
        writer.insert(new NewRow.Full(row), (int) Pipeline.NO_TAG);
    }
}
