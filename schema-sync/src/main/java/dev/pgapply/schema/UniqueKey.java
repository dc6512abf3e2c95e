package dev.pgapply.schema;

import java.util.List;

/// A unique index.
///
/// @param index its name; it lives in the table's schema
/// @param columns the key columns in index order, without INCLUDE columns and without expressions
/// @param primary it belongs to the primary key
/// @param replicaIdentity it was chosen with `REPLICA IDENTITY USING INDEX`
/// @param immediate checked at each statement; false for a deferrable constraint
/// @param valid complete and in use: not the rest of a failed `CREATE INDEX CONCURRENTLY`, and for a
///     partitioned table attached in every partition
/// @param partial it has a WHERE clause
/// @param expression a key part is an expression
/// @param notNullColumns every key column is NOT NULL
/// @param nullsNotDistinct two NULLs count as equal (15 and newer)
/// @param constraint it belongs to a constraint
/// @param deferrable that constraint is deferrable
/// @param accessMethod `btree`; `gist` for keys WITHOUT OVERLAPS (18 and newer)
/// @param deterministic every key column's collation tells unequal bytes apart
public record UniqueKey(
        String index,
        List<String> columns,
        boolean primary,
        boolean replicaIdentity,
        boolean immediate,
        boolean valid,
        boolean partial,
        boolean expression,
        boolean notNullColumns,
        boolean nullsNotDistinct,
        boolean constraint,
        boolean deferrable,
        String accessMethod,
        boolean deterministic) {

    public UniqueKey {
        columns = List.copyOf(columns);
    }

    /// Whether one value of the key columns can belong to at most one row of the table at any time, so that a
    /// join by it counts rows reliably.
    public boolean identifiesRows() {
        return immediate && valid && !partial && !expression && notNullColumns;
    }
}
