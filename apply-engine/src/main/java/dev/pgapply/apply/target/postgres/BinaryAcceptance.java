package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.TypeReference;

/// Whether a value in binary form is taken.
@FunctionalInterface
interface BinaryAcceptance {

    /// @param sourceTypeOid the type by the source's OID
    boolean accepts(long sourceTypeOid, TypeReference target);
}
