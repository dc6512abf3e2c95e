package dev.pgapply.apply.engine;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.postgres.ControlSchema;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/// Which changes are applied, by their table and by where their transaction was committed.
///
/// A table's rows up to its copy position are in its copy; a transaction whose commit begins there or later is
/// not. The comparison must include equality: the copy position can be exactly the start of the next commit
/// record.
final class TableGate {

    /// What becomes of a change.
    enum Decision {
        APPLY,
        /// It is in the table's copy, or was applied before.
        ALREADY_THERE,
        /// Nothing is known of its table: the publication has to be looked at.
        UNKNOWN_TABLE,
        /// Its table is not followed: it has left the publication.
        NOT_FOLLOWED
    }

    private final Lsn progress;
    private final Lsn settled;
    /// For each followed table the position that its copy has; absent tables are not followed.
    private final Map<TableName, Lsn> copyLsns;

    private final Set<TableName> notFollowed;
    private final Set<TableName> unknown = new HashSet<>();
    private final IdentityHashMap<Relation, Lsn> byRelation = new IdentityHashMap<>();

    /// @param progress transactions that begin to commit before it are on the target already
    /// @param settled at or after it: up to here everything is on the target, or had nothing for it
    TableGate(Lsn progress, Lsn settled, Map<TableName, Lsn> copyLsns, Set<TableName> notFollowed) {
        this.progress = progress;
        this.settled = settled;
        this.copyLsns = new HashMap<>(copyLsns);
        this.notFollowed = Set.copyOf(notFollowed);
    }

    Decision decide(Relation relation, Lsn finalLsn) {
        Lsn from = byRelation.get(relation);
        if (from == null) {
            Lsn copyLsn = copyLsns.get(relation.name());
            if (copyLsn == null) {
                return decideWithoutCopy(relation.name());
            }
            from = copyLsn.max(progress);
            byRelation.put(relation, from);
        }
        return finalLsn.isBefore(from) ? Decision.ALREADY_THERE : Decision.APPLY;
    }

    /// Whether what ends a transaction here, a commit or a decision, was dealt with before this stream.
    boolean isDone(Lsn commitLsn) {
        return commitLsn.isBefore(settled);
    }

    /// Whether what ends here was applied before this stream, for what tells nothing but its end.
    boolean isPassed(Lsn endLsn) {
        return !endLsn.isAfter(progress);
    }

    /// From here on it depends on the commit's position alone whether a change of any followed table is new.
    Lsn settledFrom() {
        return copyLsns.values().stream().reduce(progress, Lsn::max);
    }

    private Decision decideWithoutCopy(TableName table) {
        if (table.schema().equals(ControlSchema.NAME)) {
            // The source is a target itself: its own progress is nobody's data.
            return Decision.ALREADY_THERE;
        }
        if (notFollowed.contains(table)) {
            return Decision.NOT_FOLLOWED;
        }
        unknown.add(table);
        return Decision.UNKNOWN_TABLE;
    }

    /// The tables that were met without being known.
    Set<TableName> unknown() {
        return unknown;
    }
}
