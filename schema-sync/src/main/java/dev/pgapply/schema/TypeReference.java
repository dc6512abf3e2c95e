package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;

/// A column's type as one server knows it. OIDs from [#FIRST_USER_OID] on mean nothing on another server.
///
/// @param oid `pg_type.oid`
/// @param name schema and name of the type
/// @param typmod the type modifier, -1 for none
/// @param sql how the type is written in SQL with an empty `search_path`, the modifier included:
///     `numeric(10,2)`
/// @param kind what it is made of
/// @param elementOid the element's type of an array, else 0
/// @param baseOid the type below a domain, else 0
/// @param hasEquality `=` is defined for all that it contains, so rows can be compared by it
/// @param hasBinary it, and all that it contains, can be sent and received in binary form
/// @param usesObjects it is, or contains, a type of the `reg…` family or the row type of a catalog: its binary
///     values refer to objects of one database
public record TypeReference(
        long oid,
        TableName name,
        int typmod,
        String sql,
        Kind kind,
        long elementOid,
        long baseOid,
        boolean hasEquality,
        boolean hasBinary,
        boolean usesObjects) {

    /// OIDs below are given by PostgreSQL itself and are the same on every server (`FirstGenbkiObjectId`); the
    /// range from here to 16383 is assigned while a cluster is made.
    public static final long FIRST_USER_OID = 10_000;

    /// `pg_type.typtype`, with arrays apart.
    public enum Kind {
        BASE,
        ARRAY,
        DOMAIN,
        ENUM,
        COMPOSITE,
        RANGE,
        MULTIRANGE,
        PSEUDO
    }

    /// Whether the type was made by a user or an extension, so that its OID differs between servers.
    public boolean userDefined() {
        return oid >= FIRST_USER_OID;
    }
}
