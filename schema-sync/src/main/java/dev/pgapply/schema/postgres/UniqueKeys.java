package dev.pgapply.schema.postgres;

import dev.pgapply.schema.UniqueKey;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The unique indexes of some tables.
final class UniqueKeys {

    private UniqueKeys() {}

    /// By the table's OID; primary keys first, then by name.
    static Map<Long, List<UniqueKey>> read(Connection connection, int serverVersion, Set<Long> tables)
            throws SQLException {
        Map<Long, List<UniqueKey>> keys = new LinkedHashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(query(serverVersion))) {
            statement.setArray(1, connection.createArrayOf("oid", tables.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    keys.computeIfAbsent(row.getLong(1), table -> new ArrayList<>())
                            .add(key(row));
                }
            }
        }
        return keys;
    }

    // indkey is numbered from 0 and lists INCLUDE columns (11 and newer) behind the key columns; an expression
    // has the column number 0 there. A NOT NULL column may wait for its validation from 18 on.
    private static String query(int serverVersion) {
        String keyParts = serverVersion >= 110_000 ? "i.indnkeyatts" : "i.indnatts";
        String notNull = serverVersion >= 180_000
                ? "a.attnotnull AND NOT EXISTS (SELECT FROM pg_constraint n WHERE n.conrelid = a.attrelid"
                        + " AND n.contype = 'n' AND n.conkey[1] = a.attnum AND NOT n.convalidated)"
                : "a.attnotnull";
        String deterministic = serverVersion >= 120_000
                ? "NOT EXISTS (SELECT FROM pg_collation l WHERE l.oid = ANY (i.indcollation::oid[])"
                        + " AND NOT l.collisdeterministic)"
                : "true";
        return """
                SELECT i.indrelid, x.relname, i.indisprimary, i.indisreplident, i.indimmediate,
                  i.indisvalid AND i.indisready AND i.indislive, i.indpred IS NOT NULL, i.indexprs IS NOT NULL,
                  k.names, coalesce(k.notnull, false), %s,
                  c.oid IS NOT NULL, coalesce(c.condeferrable, false), m.amname, %s
                FROM pg_index i
                  JOIN pg_class x ON x.oid = i.indexrelid
                  JOIN pg_am m ON m.oid = x.relam
                  LEFT JOIN pg_constraint c
                    ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid AND c.contype IN ('p', 'u')
                  CROSS JOIN LATERAL (
                    SELECT array_agg(a.attname::text ORDER BY p.ord) AS names,
                      bool_and(%s) AS notnull
                    FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS p(attnum, ord)
                      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.attnum
                    WHERE p.ord <= %s
                  ) AS k
                WHERE i.indrelid = ANY (?::oid[]) AND i.indisunique
                ORDER BY i.indrelid, i.indisprimary DESC, x.relname
                """.formatted(
                        serverVersion >= 150_000 ? "i.indnullsnotdistinct" : "false", deterministic, notNull, keyParts);
    }

    private static UniqueKey key(ResultSet row) throws SQLException {
        Array names = row.getArray(9);
        return new UniqueKey(
                row.getString(2),
                names == null ? List.of() : List.of((String[]) names.getArray()),
                row.getBoolean(3),
                row.getBoolean(4),
                row.getBoolean(5),
                row.getBoolean(6),
                row.getBoolean(7),
                row.getBoolean(8),
                row.getBoolean(10),
                row.getBoolean(11),
                row.getBoolean(12),
                row.getBoolean(13),
                row.getString(14),
                row.getBoolean(15));
    }
}
