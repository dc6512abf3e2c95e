package dev.pgapply.schema.postgres;

import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.TableSchema;

/// The COPY that reads exactly the rows and columns that are published of a table.
public final class SourceCopyQuery {

    private SourceCopyQuery() {}

    /// How values travel. One table uses the same on both sides.
    public enum Format {
        TEXT,
        BINARY;

        /// The option list of COPY; empty for the default.
        public String options() {
            return switch (this) {
                case TEXT -> "";
                case BINARY -> " WITH (FORMAT binary)";
            };
        }
    }

    /// `COPY … TO STDOUT` with the columns in the order of [PublishedTable#columns()].
    ///
    /// The plain form reads one table without its inheritance children, and is the cheapest. A partition root,
    /// a row filter, published generated columns, and a table without any column need a query; there ONLY keeps
    /// children out.
    public static String copyOut(PublishedTable table, Format format) {
        boolean plain = table.kind() == TableSchema.Kind.TABLE
                && table.rowFilter().isEmpty()
                && table.generatedColumns().isEmpty()
                && !table.columns().isEmpty();
        String from = plain
                ? Quoting.table(table.name()) + " (" + Quoting.identifiers(table.columns()) + ")"
                : "(" + select(table) + ")";
        return "COPY " + from + " TO STDOUT" + format.options();
    }

    private static String select(PublishedTable table) {
        String columns = Quoting.identifiers(table.columns());
        return "SELECT" + (columns.isEmpty() ? "" : " " + columns)
                + " FROM " + (table.kind() == TableSchema.Kind.PARTITIONED ? "" : "ONLY ")
                + Quoting.table(table.name())
                + table.rowFilter().map(filter -> " WHERE " + filter).orElse("");
    }
}
