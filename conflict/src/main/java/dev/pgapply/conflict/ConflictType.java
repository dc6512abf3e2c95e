package dev.pgapply.conflict;

import java.util.Locale;

/// What a change can meet on the target instead of the row it expects, under PostgreSQL's own names
/// (`src/include/replication/conflict.h`, 18 and newer).
public enum ConflictType {
    /// The row to insert has a unique key that a row of the target has already.
    INSERT_EXISTS,
    /// The row to update was last changed by somebody else than this subscription.
    UPDATE_ORIGIN_DIFFERS,
    /// The updated row would have a unique key that another row of the target has.
    UPDATE_EXISTS,
    /// The row to update was deleted by somebody else a short while ago.
    UPDATE_DELETED,
    /// The row to update is not there.
    UPDATE_MISSING,
    /// The row to delete was last changed by somebody else than this subscription.
    DELETE_ORIGIN_DIFFERS,
    /// The row to delete is not there.
    DELETE_MISSING,
    /// The row to insert or to update to meets several rows, by several unique keys.
    MULTIPLE_UNIQUE_CONFLICTS;

    /// PostgreSQL's spelling, `update_missing`: stable, for logs and statistics.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return label();
    }
}
