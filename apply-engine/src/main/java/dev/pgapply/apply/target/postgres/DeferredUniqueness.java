package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.UniqueKey;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Keeps deferrable unique constraints enforced: in replica role the server checks them no more, so the values
/// touched by a target transaction are looked up before it commits.
final class DeferredUniqueness {

    /// Beyond so many values of one constraint the whole table is looked through once.
    private static final int MAX_VALUES = 5_000;

    private record Constraint(TableName table, String name) {}

    private static final class Touched {
        final List<Column> columns;
        final RowStatements statements;
        final int[] wireColumns;
        final List<Row> rows = new ArrayList<>();
        boolean everything;

        Touched(List<Column> columns, RowStatements statements, int[] wireColumns) {
            this.columns = columns;
            this.statements = statements;
            this.wireColumns = wireColumns;
        }

        void note(Row row) {
            if (everything) {
                return;
            }
            for (int column : wireColumns) {
                byte kind = column < 0 ? Row.UNCHANGED : row.kind(column);
                if (kind == Row.NULL) {
                    return;
                }
                // A value that was not sent did not change, but another column of the constraint may have.
                everything |= kind == Row.UNCHANGED;
            }
            everything |= rows.size() >= MAX_VALUES;
            if (everything) {
                rows.clear();
            } else {
                rows.add(row);
            }
        }
    }

    private final Pipeline pipeline;
    private final Map<Constraint, Touched> touched = new LinkedHashMap<>();

    DeferredUniqueness(Pipeline pipeline) {
        this.pipeline = pipeline;
    }

    boolean isEmpty() {
        return touched.isEmpty();
    }

    void clear() {
        touched.clear();
    }

    /// Remembers the values of a new row; hands the writer through.
    TableWriter note(TableWriter writer, Row row) {
        for (UniqueKey key : writer.deferrableKeys()) {
            TableSchema table = writer.table();
            Touched values = touched.computeIfAbsent(
                    new Constraint(table.name(), key.index()),
                    constraint -> new Touched(
                            key.columns().stream()
                                    .map(name -> table.column(name).orElseThrow())
                                    .toList(),
                            new RowStatements(table),
                            writer.wireColumns(key)));
            values.note(row);
        }
        return writer;
    }

    /// Looks for values that stand twice; everything written so far must have reached the server.
    ///
    /// @throws ConflictStop naming table and constraint
    void check() throws SQLException {
        for (var entry : touched.entrySet()) {
            Touched values = entry.getValue();
            int queries = values.everything ? queueWhole(values) : queueEach(values);
            pipeline.sync();
            for (int i = 0; i < queries; i++) {
                if (pipeline.affected(i) > 0) {
                    throw duplicate(entry.getKey());
                }
            }
        }
        touched.clear();
    }

    private int queueWhole(Touched values) throws SQLException {
        RowStatements.Statement statement = values.statements.anyDuplicate(values.columns);
        PreparedSql prepared = TableWriter.prepare(pipeline, statement);
        pipeline.bind(prepared, 0);
        pipeline.execute(Pipeline.NO_TAG);
        pipeline.close(prepared);
        return 1;
    }

    private int queueEach(Touched values) throws SQLException {
        RowStatements.Statement statement = values.statements.duplicate(values.columns);
        PreparedSql prepared = TableWriter.prepare(pipeline, statement);
        for (Row row : values.rows) {
            pipeline.bind(prepared, values.wireColumns.length);
            for (int column : values.wireColumns) {
                byte format = row.kind(column) == Row.BINARY ? Pipeline.BINARY : Pipeline.TEXT;
                pipeline.parameter(format, row.bytes(), row.offset(column), row.length(column));
            }
            pipeline.execute(Pipeline.NO_TAG);
        }
        pipeline.close(prepared);
        return values.rows.size();
    }

    private static ConflictStop duplicate(Constraint constraint) {
        return new ConflictStop(
                "table " + constraint.table() + ": a value of the deferrable unique constraint " + constraint.name()
                        + " would stand there twice",
                "Remove or change the row of the target that has it, then start the run again.",
                constraint.table(),
                null,
                null);
    }
}
