package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Relation;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The relations described inside one streamed transaction, which are for it alone until it has committed. The
/// source describes every relation anew in each such transaction, and again after each abort in it.
///
/// While the transaction arrives only the order of the descriptions is noted; their contents are read at
/// replay, since an abort may have removed some.
final class StreamedRelations implements Relations {

    private final RelationCache committed;
    private final Map<Integer, Long> arrivals = new HashMap<>();
    private final Map<Integer, Relation> byOid = new HashMap<>();
    private @Nullable Relation last;

    StreamedRelations(RelationCache committed) {
        this.committed = committed;
    }

    /// A description has arrived and is spooled.
    void arrived(int oid) {
        arrivals.put(oid, committed.nextArrival());
    }

    /// Something of the transaction was rolled back, perhaps descriptions too. The source takes nothing of what
    /// it described so far for known, neither here nor after the commit.
    void aborted() {
        arrivals.clear();
    }

    @Override
    public void put(Relation relation) {
        Relation known = byOid.get(relation.oid());
        if (known == null) {
            known = committed.find(relation.oid());
        }
        byOid.put(relation.oid(), relation.equals(known) ? known : relation);
        last = null;
    }

    @Override
    public Relation get(int oid) {
        Relation candidate = last;
        if (candidate != null && candidate.oid() == oid) {
            return candidate;
        }
        Relation found = byOid.get(oid);
        if (found == null) {
            throw UnexpectedMessageException.unknownRelation(oid);
        }
        last = found;
        return found;
    }

    /// The transaction has committed: what it described since the last abort holds for all.
    void commit() {
        arrivals.forEach((oid, arrival) -> committed.put(get(oid), arrival));
    }
}
