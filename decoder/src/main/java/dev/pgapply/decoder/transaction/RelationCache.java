package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Relation;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The relations that the source has described on this connection, outside of streamed transactions and in
/// those that have committed.
///
/// Descriptions are numbered as they arrive. A streamed transaction's become known here when it commits, and by
/// then another transaction may have brought a newer one, which the source then takes for the one in force.
final class RelationCache implements Relations {

    private final Map<Integer, Entry> byOid = new HashMap<>();
    /// The one asked for last: most changes come in runs of one table.
    private @Nullable Relation last;

    private long arrivals;

    private record Entry(Relation relation, long arrival) {}

    /// What is known now, apart from what comes later.
    RelationCache copy() {
        RelationCache copy = new RelationCache();
        copy.byOid.putAll(byOid);
        copy.arrivals = arrivals;
        return copy;
    }

    /// The number of a description that has just arrived.
    long nextArrival() {
        return ++arrivals;
    }

    @Override
    public void put(Relation relation) {
        put(relation, nextArrival());
    }

    /// Takes a description that arrived earlier, unless one of the same relation has arrived since.
    void put(Relation relation, long arrival) {
        Entry known = byOid.get(relation.oid());
        if (known == null || known.arrival() < arrival) {
            Relation kept = known != null && known.relation().equals(relation) ? known.relation() : relation;
            byOid.put(relation.oid(), new Entry(kept, arrival));
            last = null;
        }
    }

    @Override
    public Relation get(int oid) {
        Relation candidate = last;
        if (candidate != null && candidate.oid() == oid) {
            return candidate;
        }
        Relation found = find(oid);
        if (found == null) {
            throw UnexpectedMessageException.unknownRelation(oid);
        }
        last = found;
        return found;
    }

    @Nullable
    Relation find(int oid) {
        Entry known = byOid.get(oid);
        return known == null ? null : known.relation();
    }
}
