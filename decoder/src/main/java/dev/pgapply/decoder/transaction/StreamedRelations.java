package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Relation;
import java.util.HashMap;
import java.util.Map;

/// The relations described inside one streamed transaction, which are for it alone until it has committed. The
/// source describes every relation anew in each such transaction, and again after each abort in it.
final class StreamedRelations implements Relations {

    private record Arrival(Relation relation, long number) {}

    private final RelationCache committed;
    /// What was described since the last abort.
    private final Map<Integer, Arrival> arrivals = new HashMap<>();
    /// Everything that was described, each with the instance that stands for it.
    private final Map<Relation, Relation> instances = new HashMap<>();

    StreamedRelations(RelationCache committed) {
        this.committed = committed;
    }

    /// A description has arrived.
    @Override
    public void put(Relation relation) {
        Relation instance = instances.computeIfAbsent(relation, described -> {
            Relation known = committed.find(described.oid());
            return described.equals(known) ? known : described;
        });
        arrivals.put(relation.oid(), new Arrival(instance, committed.nextArrival()));
    }

    @Override
    public Relation get(int oid) {
        Arrival found = arrivals.get(oid);
        if (found == null) {
            throw UnexpectedMessageException.unknownRelation(oid);
        }
        return found.relation();
    }

    /// Something of the transaction was rolled back, perhaps descriptions too. The source takes nothing of what
    /// it described so far for known, neither here nor after the commit.
    void aborted() {
        arrivals.clear();
    }

    /// The transaction has committed: what it described since the last abort holds for all.
    void commit() {
        arrivals.values().forEach(arrival -> committed.put(arrival.relation(), arrival.number()));
    }

    /// For reading the transaction from its beginning, on any thread once nothing more arrives.
    Relations fromBeginning() {
        return new FromBeginning(instances);
    }

    /// Meets the descriptions again, in their order, and knows the instances.
    private static final class FromBeginning implements Relations {

        private final Map<Relation, Relation> instances;
        private final Map<Integer, Relation> byOid = new HashMap<>();

        FromBeginning(Map<Relation, Relation> instances) {
            this.instances = instances;
        }

        @Override
        public void put(Relation relation) {
            byOid.put(relation.oid(), instances.getOrDefault(relation, relation));
        }

        @Override
        public Relation get(int oid) {
            Relation found = byOid.get(oid);
            if (found == null) {
                throw UnexpectedMessageException.unknownRelation(oid);
            }
            return found;
        }
    }
}
