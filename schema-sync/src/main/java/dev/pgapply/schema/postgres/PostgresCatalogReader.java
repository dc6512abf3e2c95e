package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.CatalogReader;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.UniqueKey;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Reads structures from the catalogs of PostgreSQL 10 and newer. Runs inside the connection's transaction, if
/// there is one, and belongs to the connection's thread.
public final class PostgresCatalogReader implements CatalogReader {

    private final Connection connection;
    private final int serverVersion;

    public PostgresCatalogReader(PostgresSession session) {
        this.connection = session.connection();
        this.serverVersion = session.serverVersion();
    }

    @Override
    public Map<TableName, TableSchema> tables(Collection<TableName> names) {
        if (names.isEmpty()) {
            return Map.of();
        }
        try {
            Map<Long, Relation> relations = relations(names);
            Map<Long, List<Column>> columns = columns(relations.keySet());
            Map<Long, List<UniqueKey>> keys = keys(relations.keySet());
            Map<TableName, TableSchema> read = new LinkedHashMap<>();
            relations.forEach((oid, relation) -> read.put(
                    relation.name(),
                    relation.schema(columns.getOrDefault(oid, List.of()), keys.getOrDefault(oid, List.of()))));
            Map<TableName, TableSchema> ordered = new LinkedHashMap<>();
            names.stream().filter(read::containsKey).forEach(name -> ordered.put(name, read.get(name)));
            return ordered;
        } catch (SQLException e) {
            throw SqlFailure.during("reading the structure of tables", e);
        }
    }

    /// A row of `pg_class` before its columns and keys are known.
    private record Relation(
            long oid,
            TableName name,
            TableSchema.Kind kind,
            TableSchema.Persistence persistence,
            ReplicaIdentity replicaIdentity,
            TableSchema.RowSecurity rowSecurity,
            boolean firesTriggers,
            boolean firesRules,
            boolean hasExclusionConstraint,
            boolean hasForeignPartition) {

        TableSchema schema(List<Column> columns, List<UniqueKey> keys) {
            return new TableSchema(
                    name,
                    oid,
                    kind,
                    persistence,
                    columns,
                    keys,
                    replicaIdentity,
                    rowSecurity,
                    firesTriggers,
                    firesRules,
                    hasExclusionConstraint,
                    hasForeignPartition);
        }
    }

    // Triggers of partitions fire for rows routed through the root, so the whole tree is looked at. Constraint
    // triggers are internal and count as well once somebody has enabled them ALWAYS. Rules apply only to the
    // table that is named.
    private static final String RELATIONS = """
            WITH RECURSIVE wanted AS (
              SELECT c.oid AS reloid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident,
                c.relrowsecurity, c.relforcerowsecurity
              FROM unnest(?::text[], ?::text[]) AS w(schema, name)
                JOIN pg_namespace n ON n.nspname = w.schema::name
                JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name::name
            ), tree(root, oid) AS (
              SELECT reloid, reloid FROM wanted
              UNION ALL
              SELECT t.root, i.inhrelid FROM tree t
                JOIN pg_inherits i ON i.inhparent = t.oid
                JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
            )
            SELECT w.reloid, w.nspname, w.relname, w.relkind, w.relpersistence, w.relreplident,
              w.relrowsecurity, w.relforcerowsecurity, row_security_active(w.reloid),
              EXISTS (SELECT FROM tree t JOIN pg_trigger g ON g.tgrelid = t.oid
                WHERE t.root = w.reloid AND g.tgenabled IN ('A', 'R')),
              EXISTS (SELECT FROM pg_rewrite r
                WHERE r.ev_class = w.reloid AND r.ev_type <> '1' AND r.ev_enabled IN ('A', 'R')),
              EXISTS (SELECT FROM tree t JOIN pg_index x ON x.indrelid = t.oid
                WHERE t.root = w.reloid AND x.indisexclusion),
              EXISTS (SELECT FROM tree t JOIN pg_class f ON f.oid = t.oid
                WHERE t.root = w.reloid AND t.oid <> t.root AND f.relkind = 'f')
            FROM wanted w
            """;

    private Map<Long, Relation> relations(Collection<TableName> names) throws SQLException {
        Map<Long, Relation> relations = new LinkedHashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(RELATIONS)) {
            statement.setArray(1, texts(names.stream().map(TableName::schema).toArray(String[]::new)));
            statement.setArray(2, texts(names.stream().map(TableName::name).toArray(String[]::new)));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    relations.put(row.getLong(1), relation(row));
                }
            }
        }
        return relations;
    }

    private static Relation relation(ResultSet row) throws SQLException {
        return new Relation(
                row.getLong(1),
                new TableName(row.getString(2), row.getString(3)),
                kind(row.getString(4)),
                switch (row.getString(5)) {
                    case "t" -> TableSchema.Persistence.TEMPORARY;
                    case "u" -> TableSchema.Persistence.UNLOGGED;
                    default -> TableSchema.Persistence.PERMANENT;
                },
                switch (row.getString(6)) {
                    case "f" -> ReplicaIdentity.FULL;
                    case "i" -> ReplicaIdentity.INDEX;
                    case "n" -> ReplicaIdentity.NOTHING;
                    default -> ReplicaIdentity.DEFAULT;
                },
                new TableSchema.RowSecurity(row.getBoolean(7), row.getBoolean(8), row.getBoolean(9)),
                row.getBoolean(10),
                row.getBoolean(11),
                row.getBoolean(12),
                row.getBoolean(13));
    }

    /// `pg_class.relkind` by name.
    static TableSchema.Kind kind(String relkind) {
        return switch (relkind) {
            case "r" -> TableSchema.Kind.TABLE;
            case "p" -> TableSchema.Kind.PARTITIONED;
            case "v" -> TableSchema.Kind.VIEW;
            case "m" -> TableSchema.Kind.MATERIALIZED_VIEW;
            case "f" -> TableSchema.Kind.FOREIGN;
            case "S" -> TableSchema.Kind.SEQUENCE;
            default -> TableSchema.Kind.OTHER;
        };
    }

    private record ColumnRow(
            long table,
            int attnum,
            String name,
            long type,
            int typmod,
            String sql,
            boolean notNull,
            boolean hasDefault,
            Column.Identity identity,
            Column.Generated generated) {}

    private Map<Long, List<Column>> columns(Set<Long> tables) throws SQLException {
        List<ColumnRow> rows = columnRows(tables);
        Set<Long> typeOids = new HashSet<>();
        rows.forEach(row -> typeOids.add(row.type()));
        TypeCatalog types = TypeCatalog.read(connection, typeOids);
        Map<Long, List<Column>> columns = new LinkedHashMap<>();
        for (ColumnRow row : rows) {
            TypeReference type = types.reference(row.type(), row.typmod(), row.sql());
            columns.computeIfAbsent(row.table(), table -> new ArrayList<>())
                    .add(new Column(
                            row.attnum(),
                            row.name(),
                            type,
                            row.notNull(),
                            row.hasDefault(),
                            row.identity(),
                            row.generated()));
        }
        return columns;
    }

    private List<ColumnRow> columnRows(Set<Long> tables) throws SQLException {
        // From 18 on, a NOT NULL constraint may wait for its validation.
        String notNull = serverVersion >= 180_000 ? """
                  a.attnotnull AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = a.attrelid
                    AND c.contype = 'n' AND c.conkey[1] = a.attnum AND NOT c.convalidated)""" : "a.attnotnull";
        String sql = "SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod,"
                + " format_type(a.atttypid, a.atttypmod), " + notNull + ", a.atthasdef, a.attidentity, "
                + (serverVersion >= 120_000 ? "a.attgenerated" : "''")
                + " FROM pg_attribute a"
                + " WHERE a.attrelid = ANY (?::oid[]) AND a.attnum > 0 AND NOT a.attisdropped"
                + " ORDER BY a.attrelid, a.attnum";
        List<ColumnRow> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("oid", tables.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.add(new ColumnRow(
                            row.getLong(1),
                            row.getInt(2),
                            row.getString(3),
                            row.getLong(4),
                            row.getInt(5),
                            row.getString(6),
                            row.getBoolean(7),
                            row.getBoolean(8),
                            switch (row.getString(9)) {
                                case "a" -> Column.Identity.ALWAYS;
                                case "d" -> Column.Identity.BY_DEFAULT;
                                default -> Column.Identity.NONE;
                            },
                            switch (row.getString(10)) {
                                case "s" -> Column.Generated.STORED;
                                case "v" -> Column.Generated.VIRTUAL;
                                default -> Column.Generated.NONE;
                            }));
                }
            }
        }
        return rows;
    }

    private Map<Long, List<UniqueKey>> keys(Set<Long> tables) throws SQLException {
        return UniqueKeys.read(connection, serverVersion, tables);
    }

    private Array texts(String[] values) throws SQLException {
        return connection.createArrayOf("text", values);
    }
}
