package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Relation;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The relations that the source has described on this connection, by OID.
final class RelationCache {

    private final Map<Integer, Relation> byOid = new HashMap<>();
    /// The one asked for last: most changes come in runs of one table.
    private @Nullable Relation last;

    /// Takes a description. One that says what is known already keeps the old instance, because the source repeats
    /// itself
    /// after every invalidation (an ANALYZE is enough) and a new instance means a new version to whoever compares.
    void put(Relation relation) {
        Relation known = byOid.get(relation.oid());
        if (!relation.equals(known)) {
            byOid.put(relation.oid(), relation);
            last = null;
        }
    }

    /// @throws UnexpectedMessageException if it was never described
    Relation get(int oid) {
        Relation candidate = last;
        if (candidate != null && candidate.oid() == oid) {
            return candidate;
        }
        Relation found = byOid.get(oid);
        if (found == null) {
            throw new UnexpectedMessageException("a change refers to relation %s, which was never described"
                    .formatted(Integer.toUnsignedString(oid)));
        }
        last = found;
        return found;
    }
}
