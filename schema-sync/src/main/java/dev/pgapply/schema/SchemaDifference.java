package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;
import java.util.List;

/// One way in which a target does not fit what is published.
public sealed interface SchemaDifference {

    /// The published table concerned.
    TableName table();

    /// Whether rows of the table cannot be written for as long as it is so.
    boolean blocks();

    /// For people, in one line.
    String describe();

    /// The target has no relation of this name.
    record TableMissing(PublishedTable published, TableSchema source) implements SchemaDifference {
        @Override
        public TableName table() {
            return published.name();
        }

        @Override
        public boolean blocks() {
            return true;
        }

        @Override
        public String describe() {
            return "table " + table() + " does not exist on the target";
        }
    }

    /// The target table lacks published columns.
    record ColumnsMissing(TableName table, List<Column> columns) implements SchemaDifference {
        public ColumnsMissing {
            columns = List.copyOf(columns);
        }

        @Override
        public boolean blocks() {
            return true;
        }

        @Override
        public String describe() {
            return "table " + table + " of the target lacks "
                    + String.join(", ", columns.stream().map(Column::name).toList());
        }
    }

    /// The target computes published columns itself: what the source sends for them is ignored.
    record ColumnsGenerated(TableName table, List<String> columns) implements SchemaDifference {
        public ColumnsGenerated {
            columns = List.copyOf(columns);
        }

        @Override
        public boolean blocks() {
            return false;
        }

        @Override
        public String describe() {
            return "table " + table + " of the target generates " + String.join(", ", columns)
                    + " itself: the source's values are ignored";
        }
    }

    /// Columns of the target get no value from the source, have no default, and allow no NULL.
    record ColumnsUnfilled(TableName table, List<String> columns) implements SchemaDifference {
        public ColumnsUnfilled {
            columns = List.copyOf(columns);
        }

        @Override
        public boolean blocks() {
            return false;
        }

        @Override
        public String describe() {
            return "table " + table + " of the target has NOT NULL columns without default that are not published: "
                    + String.join(", ", columns);
        }
    }

    /// The target's relation of this name is a view or something else that takes no rows of a stream.
    record KindUnsupported(PublishedTable published, TableSchema source, TableSchema.Kind kind)
            implements SchemaDifference {
        @Override
        public TableName table() {
            return published.name();
        }

        @Override
        public boolean blocks() {
            return true;
        }

        @Override
        public String describe() {
            return table() + " is no table on the target but "
                    + switch (kind) {
                        case TABLE, PARTITIONED -> "a table";
                        case VIEW -> "a view";
                        case MATERIALIZED_VIEW -> "a materialized view";
                        case FOREIGN -> "a foreign table";
                        case SEQUENCE -> "a sequence";
                        case OTHER -> "something else";
                    };
        }
    }

    /// A foreign table is published, or is a partition of a table on either side: its rows live elsewhere.
    record ForeignTable(TableName table, boolean onSource) implements SchemaDifference {
        @Override
        public boolean blocks() {
            return true;
        }

        @Override
        public String describe() {
            return "table " + table + " of the " + (onSource ? "source" : "target")
                    + " is a foreign table or has one as a partition";
        }
    }

    /// Policies of the target would apply to what is written.
    record RowSecurityActive(TableName table) implements SchemaDifference {
        @Override
        public boolean blocks() {
            return true;
        }

        @Override
        public String describe() {
            return "table " + table
                    + " of the target has row-level security that applies to this role: it needs BYPASSRLS";
        }
    }

    /// The target table is emptied by a crash of its server, while progress is not set back.
    record Unlogged(TableName table) implements SchemaDifference {
        @Override
        public boolean blocks() {
            return false;
        }

        @Override
        public String describe() {
            return "table " + table + " of the target is unlogged: a crash of the target empties it";
        }
    }
}
