package dev.pgapply.schema;

import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Small structures for tests: columns of type integer unless said otherwise.
public final class Structures {

    public static final TableName T = new TableName("public", "t");

    private Structures() {}

    public static TypeReference type(long oid, String sql, TypeReference.Kind kind) {
        return new TypeReference(
                oid, new TableName("pg_catalog", sql), -1, sql, kind, 0, 0, true, true, sql.startsWith("reg"));
    }

    public static Column column(String name, TypeReference type) {
        return new Column(1, name, type, false, false, Column.Identity.NONE, Column.Generated.NONE);
    }

    public static Column column(String name) {
        return column(name, type(23, "integer", TypeReference.Kind.BASE));
    }

    public static Column notNull(String name) {
        Column column = column(name);
        return new Column(1, name, column.type(), true, false, Column.Identity.NONE, Column.Generated.NONE);
    }

    public static Column generated(String name) {
        Column column = column(name);
        return new Column(1, name, column.type(), false, true, Column.Identity.NONE, Column.Generated.STORED);
    }

    public static UniqueKey key(String index, boolean primary, boolean usable, String... columns) {
        return new UniqueKey(
                index,
                Arrays.asList(columns),
                primary,
                false,
                usable,
                true,
                false,
                false,
                true,
                false,
                primary,
                !usable,
                "btree",
                true);
    }

    public static TableSchema table(TableSchema.Kind kind, List<Column> columns, UniqueKey... keys) {
        return new TableSchema(
                T,
                1,
                kind,
                TableSchema.Persistence.PERMANENT,
                columns,
                Arrays.asList(keys),
                ReplicaIdentity.DEFAULT,
                new TableSchema.RowSecurity(false, false, false),
                false,
                false,
                false,
                false);
    }

    public static TableSchema table(List<Column> columns, UniqueKey... keys) {
        return table(TableSchema.Kind.TABLE, columns, keys);
    }

    public static PublishedTable published(TableSchema source, String... columns) {
        return new PublishedTable(
                source.name(),
                source.oid(),
                source.kind(),
                Arrays.asList(columns),
                false,
                List.of(),
                Optional.empty(),
                0,
                0,
                false,
                source.hasForeignPartition(),
                true,
                true);
    }

    /// A relation message; a column whose name ends with `*` is flagged as key.
    public static Relation relation(ReplicaIdentity identity, String... columns) {
        return new Relation(
                1,
                T,
                identity,
                Arrays.stream(columns)
                        .map(name -> new Relation.Column(name.endsWith("*"), name.replace("*", ""), 23, -1))
                        .toList());
    }
}
