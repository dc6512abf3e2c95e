package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.postgres.Quoting;
import java.util.Set;

/// How a value of the target's type is compared with one that was sent. The sessions' `search_path` is empty,
/// so the operator is named with its schema: that of the type for what extensions bring (citext), else
/// `pg_catalog`.
final class Equality {

    /// Types whose equal values always look the same, by OID: bool, bytea, int8, int2, int4, oid, date,
    /// timestamp, timestamptz, uuid, pg_lsn.
    private static final Set<Long> IDENTICAL = Set.of(16L, 17L, 20L, 21L, 23L, 26L, 1082L, 1114L, 1184L, 2950L, 3220L);

    private Equality() {}

    /// `left = right` by the type's own equality, or by what both look like for a type that has none (json,
    /// xml, point).
    static String condition(TypeReference type, String left, String right) {
        if (!type.hasEquality() || isDomainOverForeignBase(type)) {
            return left + "::text OPERATOR(pg_catalog.=) (" + right + ")::text";
        }
        String schema = type.kind() == TypeReference.Kind.BASE && type.userDefined()
                ? Quoting.identifier(type.name().schema())
                : "pg_catalog";
        return left + " OPERATOR(" + schema + ".=) " + right;
    }

    /// Whether two equal values can look different, as `1.0` and `1.00` do.
    static boolean canLookDifferent(TypeReference type) {
        return type.hasEquality() && !IDENTICAL.contains(type.oid()) && type.kind() != TypeReference.Kind.ENUM;
    }

    /// The schema of the base type's operator is not known here.
    private static boolean isDomainOverForeignBase(TypeReference type) {
        return type.kind() == TypeReference.Kind.DOMAIN && type.baseOid() >= TypeReference.FIRST_USER_OID;
    }
}
