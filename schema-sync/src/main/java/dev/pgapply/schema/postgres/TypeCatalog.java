package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.TypeReference.Kind;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The types of some columns, and everything these types are made of.
final class TypeCatalog {

    // An array is a base type of variable length with an element type; int2vector and oidvector count as such
    // too, as they do for the server. An operator class for a type to which this one can be relabelled (varchar →
    // text) counts.
    private static final String QUERY = """
            WITH RECURSIVE closure(oid) AS (
              SELECT wanted FROM unnest(?::oid[]) AS wanted
              UNION
              SELECT part.oid FROM closure c
                JOIN pg_type t ON t.oid = c.oid
                CROSS JOIN LATERAL (
                  SELECT t.typbasetype WHERE t.typtype = 'd'
                  UNION ALL
                  SELECT t.typelem WHERE t.typtype = 'b' AND t.typlen = -1 AND t.typelem <> 0
                  UNION ALL
                  SELECT a.atttypid FROM pg_attribute a
                    WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                ) AS part(oid)
            )
            SELECT t.oid, n.nspname, t.typname, t.typtype,
              CASE WHEN t.typtype = 'b' AND t.typlen = -1 THEN t.typelem ELSE 0 END,
              t.typbasetype,
              t.typsend <> 0 AND t.typreceive <> 0,
              EXISTS (SELECT FROM pg_opclass o
                WHERE o.opcdefault AND o.opcmethod IN (403, 405)
                  AND (o.opcintype = t.oid OR o.opcintype IN (
                    SELECT k.casttarget FROM pg_cast k
                      WHERE k.castsource = t.oid AND k.castmethod = 'b' AND k.castcontext = 'i'))),
              t.oid < 10000 AND t.typname ~ '^reg',
              (SELECT array_agg(a.atttypid) FROM pg_attribute a
                WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)
            FROM closure c
              JOIN pg_type t ON t.oid = c.oid
              JOIN pg_namespace n ON n.oid = t.typnamespace
            """;

    private final Map<Long, Type> types = new HashMap<>();

    private record Type(
            TableName name,
            Kind kind,
            long elementOid,
            long baseOid,
            boolean hasBinary,
            boolean hasOperatorClass,
            boolean isObject,
            List<Long> fields) {}

    private TypeCatalog() {}

    static TypeCatalog read(Connection connection, Collection<Long> oids) throws SQLException {
        TypeCatalog catalog = new TypeCatalog();
        Array wanted = connection.createArrayOf("oid", Set.copyOf(oids).toArray());
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setArray(1, wanted);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    catalog.types.put(row.getLong(1), type(row));
                }
            }
        }
        return catalog;
    }

    private static Type type(ResultSet row) throws SQLException {
        long element = row.getLong(5);
        return new Type(
                new TableName(row.getString(2), row.getString(3)),
                kind(row.getString(4), element),
                element,
                row.getLong(6),
                row.getBoolean(7),
                row.getBoolean(8),
                row.getBoolean(9),
                oids(row.getArray(10)));
    }

    private static Kind kind(String typtype, long element) {
        return switch (typtype) {
            case "b" -> element == 0 ? Kind.BASE : Kind.ARRAY;
            case "c" -> Kind.COMPOSITE;
            case "d" -> Kind.DOMAIN;
            case "e" -> Kind.ENUM;
            case "r" -> Kind.RANGE;
            case "m" -> Kind.MULTIRANGE;
            default -> Kind.PSEUDO;
        };
    }

    private static List<Long> oids(@Nullable Array array) throws SQLException {
        List<Long> oids = new ArrayList<>();
        if (array != null) {
            for (Object oid : (Object[]) array.getArray()) {
                oids.add(((Number) oid).longValue());
            }
        }
        return oids;
    }

    TypeReference reference(long oid, int typmod, String sql) {
        Type type = type(oid);
        return new TypeReference(
                oid,
                type.name(),
                typmod,
                sql,
                type.kind(),
                type.elementOid(),
                type.baseOid(),
                hasEquality(oid, new HashSet<>()),
                hasBinary(oid, new HashSet<>()),
                usesObjects(oid, new HashSet<>()));
    }

    // Containers compare by their parts. A type that is met again inside itself adds nothing.
    private boolean hasEquality(long oid, Set<Long> seen) {
        if (!seen.add(oid)) {
            return true;
        }
        Type type = type(oid);
        return switch (type.kind()) {
            case BASE, PSEUDO -> type.hasOperatorClass();
            case ENUM, RANGE, MULTIRANGE -> true;
            case DOMAIN -> hasEquality(type.baseOid(), seen);
            case ARRAY -> type.hasOperatorClass() || hasEquality(type.elementOid(), seen);
            case COMPOSITE -> type.fields().stream().allMatch(field -> hasEquality(field, seen));
        };
    }

    // An array can always be sent, but fails for an element that cannot.
    private boolean hasBinary(long oid, Set<Long> seen) {
        if (!seen.add(oid)) {
            return true;
        }
        Type type = type(oid);
        return type.hasBinary()
                && switch (type.kind()) {
                    case BASE, PSEUDO, ENUM, RANGE, MULTIRANGE -> true;
                    case DOMAIN -> hasBinary(type.baseOid(), seen);
                    case ARRAY -> hasBinary(type.elementOid(), seen);
                    case COMPOSITE -> type.fields().stream().allMatch(field -> hasBinary(field, seen));
                };
    }

    // The row types of catalogs hold OIDs too, and change between versions.
    private boolean usesObjects(long oid, Set<Long> seen) {
        if (!seen.add(oid)) {
            return false;
        }
        Type type = type(oid);
        return switch (type.kind()) {
            case BASE, PSEUDO, ENUM, RANGE, MULTIRANGE -> type.isObject();
            case DOMAIN -> usesObjects(type.baseOid(), seen);
            case ARRAY -> usesObjects(type.elementOid(), seen);
            case COMPOSITE ->
                oid < TypeReference.FIRST_USER_OID
                        || type.fields().stream().anyMatch(field -> usesObjects(field, seen));
        };
    }

    private Type type(long oid) {
        Type type = types.get(oid);
        if (type == null) {
            throw new IllegalStateException("type " + oid + " vanished from the catalog while it was read");
        }
        return type;
    }
}
