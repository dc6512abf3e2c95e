package dev.pgapply.schema.postgres;

import dev.pgapply.schema.TableSchema;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What the catalog says of published relations, beside their publications.
final class PublishedRelations {

    /// @param columns that exist and are not generated, in order
    /// @param generated that exist and are generated, in order
    record Facts(
            TableSchema.Kind kind,
            List<String> columns,
            Set<String> generated,
            double rows,
            long bytes,
            boolean rowSecurityActive,
            boolean hasForeignPartition,
            boolean hasIdentity) {}

    // Sizes and identities of a partition tree are those of its leaves. A table that was never counted has -1
    // rows from 14 on, and neither rows nor pages before.
    private static final String FACTS = """
            WITH RECURSIVE tree(root, oid) AS (
              SELECT wanted, wanted FROM unnest(?::oid[]) AS wanted
              UNION ALL
              SELECT t.root, i.inhrelid FROM tree t
                JOIN pg_inherits i ON i.inhparent = t.oid
                JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
            ), leaf AS (
              SELECT t.root, c.oid, c.relkind, c.reltuples, pg_table_size(c.oid) AS bytes,
                c.reltuples < 0 OR c.reltuples = 0 AND c.relpages = 0 AND pg_relation_size(c.oid) > 0 AS uncounted,
                c.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i
                  WHERE i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
                    AND (c.relreplident = 'd' AND i.indisprimary OR c.relreplident = 'i' AND i.indisreplident))
                  AS identity
              FROM tree t JOIN pg_class c ON c.oid = t.oid
              WHERE c.relkind <> 'p'
            )
            SELECT c.oid, c.relkind,
              (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND {generated} = ''),
              (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND {generated} <> ''),
              (SELECT coalesce(sum(l.reltuples) FILTER (WHERE NOT l.uncounted),
                  CASE WHEN count(*) = 0 THEN 0 ELSE -1 END)
                FROM leaf l WHERE l.root = c.oid),
              (SELECT coalesce(sum(l.bytes), 0) FROM leaf l WHERE l.root = c.oid),
              row_security_active(c.oid),
              EXISTS (SELECT FROM leaf l WHERE l.root = c.oid AND l.oid <> c.oid AND l.relkind = 'f'),
              NOT EXISTS (SELECT FROM leaf l WHERE l.root = c.oid AND NOT l.identity)
            FROM pg_class c WHERE c.oid = ANY (?::oid[])
            """;

    private static final String ANCESTORS = """
            WITH RECURSIVE chain(oid, ancestor) AS (
              SELECT c.oid, c.oid FROM pg_class c WHERE c.oid = ANY (?::oid[])
              UNION ALL
              SELECT h.oid, i.inhparent FROM chain h
                JOIN pg_class p ON p.oid = h.ancestor AND p.relispartition
                JOIN pg_inherits i ON i.inhrelid = h.ancestor
            )
            SELECT oid, ancestor FROM chain WHERE oid <> ancestor
            """;

    private final Map<Long, Facts> facts = new HashMap<>();
    private final Map<Long, Set<Long>> ancestors = new HashMap<>();

    private PublishedRelations() {}

    static PublishedRelations read(Connection connection, int serverVersion, Collection<Long> oids)
            throws SQLException {
        PublishedRelations relations = new PublishedRelations();
        Array wanted = connection.createArrayOf("oid", Set.copyOf(oids).toArray());
        String generated = serverVersion >= 120_000 ? "a.attgenerated" : "''";
        try (PreparedStatement statement = connection.prepareStatement(FACTS.replace("{generated}", generated))) {
            statement.setArray(1, wanted);
            statement.setArray(2, wanted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    relations.facts.put(row.getLong(1), facts(row));
                }
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(ANCESTORS)) {
            statement.setArray(1, wanted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    relations
                            .ancestors
                            .computeIfAbsent(row.getLong(1), oid -> new HashSet<>())
                            .add(row.getLong(2));
                }
            }
        }
        return relations;
    }

    private static Facts facts(ResultSet row) throws SQLException {
        return new Facts(
                PostgresCatalogReader.kind(row.getString(2)),
                names(row.getArray(3)),
                Set.copyOf(names(row.getArray(4))),
                row.getDouble(5),
                row.getLong(6),
                row.getBoolean(7),
                row.getBoolean(8),
                row.getBoolean(9));
    }

    private static List<String> names(@Nullable Array array) throws SQLException {
        return array == null ? List.of() : Arrays.asList((String[]) array.getArray());
    }

    /// Absent for a table that was dropped meanwhile.
    @Nullable
    Facts facts(long oid) {
        return facts.get(oid);
    }

    /// Whether one of these is above the partition.
    boolean isBelow(long oid, Set<Long> others) {
        return ancestors.getOrDefault(oid, Set.of()).stream().anyMatch(others::contains);
    }
}
