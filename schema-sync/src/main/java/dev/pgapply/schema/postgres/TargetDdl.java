package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaComparison;
import dev.pgapply.schema.SchemaDifference;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.UniqueKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// SQL that makes a PostgreSQL target fit: suggestions for a person, complete enough to be run as they are
/// where no types of users are involved.
public final class TargetDdl {

    private TargetDdl() {}

    /// One statement a line for everything that SQL can mend, schemas first; empty where nothing is to be done,
    /// or nothing can be.
    ///
    /// @param role the role that writes
    public static String mending(SchemaComparison comparison, String role) {
        List<String> statements = new ArrayList<>();
        comparison.differences().stream()
                .filter(SchemaDifference.TableMissing.class::isInstance)
                .map(difference -> difference.table().schema())
                .filter(schema -> !schema.equals("public"))
                .collect(Collectors.toCollection(TreeSet::new))
                .forEach(schema -> statements.add("CREATE SCHEMA IF NOT EXISTS " + Quoting.identifier(schema) + ";"));
        comparison.differences().forEach(difference -> mending(difference).ifPresent(statements::add));
        if (comparison.differences().stream().anyMatch(SchemaDifference.RowSecurityActive.class::isInstance)) {
            statements.add("ALTER ROLE " + Quoting.identifier(role) + " BYPASSRLS;");
        }
        return String.join("\n", statements);
    }

    private static Optional<String> mending(SchemaDifference difference) {
        return switch (difference) {
            case SchemaDifference.TableMissing missing ->
                Optional.of(createTable(missing.published(), missing.source()));
            case SchemaDifference.ColumnsMissing missing -> Optional.of(addColumns(missing.table(), missing.columns()));
            case SchemaDifference.RowSecurityActive active -> Optional.empty();
            case SchemaDifference.Unlogged unlogged ->
                Optional.of("ALTER TABLE " + Quoting.table(unlogged.table()) + " SET LOGGED;");
            case SchemaDifference.ColumnsGenerated generated -> Optional.empty();
            case SchemaDifference.ColumnsUnfilled unfilled -> Optional.empty();
            case SchemaDifference.KindUnsupported unsupported -> makingRoom(unsupported);
            case SchemaDifference.ForeignTable foreign -> Optional.empty();
        };
    }

    private static Optional<String> makingRoom(SchemaDifference.KindUnsupported unsupported) {
        Optional<String> kind = switch (unsupported.kind()) {
            case VIEW -> Optional.of("VIEW");
            case MATERIALIZED_VIEW -> Optional.of("MATERIALIZED VIEW");
            case SEQUENCE -> Optional.of("SEQUENCE");
            case TABLE, PARTITIONED, FOREIGN, OTHER -> Optional.empty();
        };
        return kind.map(word -> "ALTER " + word + " " + Quoting.table(unsupported.table()) + " RENAME TO "
                + Quoting.identifier(unsupported.table().name() + "_old") + ";\n"
                + createTable(unsupported.published(), unsupported.source()));
    }

    /// `CREATE TABLE` with the published columns, their types, NOT NULL, and the key by which the source finds
    /// rows.
    public static String createTable(PublishedTable published, TableSchema source) {
        List<String> parts = new ArrayList<>();
        source.columns().stream()
                .filter(column -> published.columns().contains(column.name()))
                .forEach(column -> parts.add(definition(column) + (column.notNull() ? " NOT NULL" : "")));
        source.identityKey()
                .filter(key -> published.columns().containsAll(key.columns()))
                .ifPresent(key -> parts.add(constraint(key)));
        return "CREATE TABLE " + Quoting.table(source.name()) + " (" + String.join(", ", parts) + ");";
    }

    // A range key WITHOUT OVERLAPS finds rows by equality like any other, and so a plain one serves.
    private static String constraint(UniqueKey key) {
        return (key.primary() ? "PRIMARY KEY" : "UNIQUE") + " (" + Quoting.identifiers(key.columns()) + ")";
    }

    private static String addColumns(TableName table, List<Column> columns) {
        return columns.stream()
                .map(column -> "ADD COLUMN " + definition(column))
                .collect(Collectors.joining(", ", "ALTER TABLE " + Quoting.table(table) + " ", ";"));
    }

    private static String definition(Column column) {
        return Quoting.identifier(column.name()) + " " + column.type().sql();
    }
}
