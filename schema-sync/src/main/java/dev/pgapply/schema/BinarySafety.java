package dev.pgapply.schema;

import dev.pgapply.decoder.Relation;
import java.util.List;
import java.util.Set;

/// Decides where values may travel in binary form, so that they arrive as they would as text: only where both
/// sides provably mean the same type.
///
/// Safe are types that PostgreSQL itself brings along, with the same OID on both sides, and arrays and ranges
/// of them. Everything that a user or an extension made travels as text, since its OID, which is inside arrays
/// and rows, differs; so do `reg…` types, whose binary form is the OID of an object. Text is converted between
/// encodings in both forms alike, so encodings play no part. `xml` carries an encoding declaration in one form
/// and not in the other, and the order inside text search vectors was platform dependent, so these stay text
/// too.
///
/// @param sourceVersion `server_version_num`
/// @param targetVersion `server_version_num`
public record BinarySafety(int sourceVersion, int targetVersion) {

    private static final Set<Long> XML = Set.of(142L, 143L);
    private static final Set<Long> TEXT_SEARCH = Set.of(3614L, 3643L, 3615L, 3645L);
    private static final Set<Long> INTERVAL = Set.of(1186L, 1187L);

    /// Whether values of this source type can be received as that target type.
    public boolean isSafe(long sourceTypeOid, TypeReference target) {
        if (sourceTypeOid != target.oid() || target.userDefined() || !target.hasBinary() || target.usesObjects()) {
            return false;
        }
        return switch (target.kind()) {
            case BASE, ARRAY, RANGE, MULTIRANGE -> !meansSomethingElse(target.oid());
            case DOMAIN, ENUM, COMPOSITE, PSEUDO -> false;
        };
    }

    // The infinite interval of 17 has a binary form that older servers take for a very long finite one.
    private boolean meansSomethingElse(long oid) {
        return XML.contains(oid)
                || TEXT_SEARCH.contains(oid)
                || (INTERVAL.contains(oid) && sourceVersion >= 170_000 && targetVersion < 170_000);
    }

    /// Whether every written column of a streamed relation is safe.
    public boolean isSafe(ColumnMapping mapping) {
        for (int i = 0; i < mapping.wireColumns(); i++) {
            Relation.Column sent = mapping.relation().columns().get(i);
            if (!mapping.isIgnored(i)
                    && !isSafe(
                            Integer.toUnsignedLong(sent.typeOid()),
                            mapping.targetColumn(i).type())) {
                return false;
            }
        }
        return true;
    }

    /// Whether these columns, which both tables have, are all safe: for a copy of one table.
    public boolean isSafe(TableSchema source, TableSchema target, List<String> columns) {
        return columns.stream()
                .allMatch(name -> source.column(name)
                        .flatMap(sent -> target.column(name)
                                .map(received -> isSafe(sent.type().oid(), received.type())))
                        .orElse(false));
    }
}
