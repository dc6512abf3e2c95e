package dev.pgapply.schema;

import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import java.util.List;
import java.util.Optional;

/// What a catalog says of one relation at one moment.
///
/// @param oid `pg_class.oid`
/// @param columns without dropped ones, in the table's order
/// @param keys every unique index, usable or not
/// @param replicaIdentity what the table logs of old rows when it is a source itself; it also says which index
///     identifies rows of a target
/// @param rowSecurity whether policies hide rows from the role that asked
/// @param firesTriggers a trigger of the table or of a partition below it fires even under
///     `session_replication_role = replica`
/// @param firesRules a rule applies even under `session_replication_role = replica`
/// @param hasExclusionConstraint an exclusion constraint of the table or of a partition below it
/// @param hasForeignPartition a partition below it is a foreign table
public record TableSchema(
        TableName name,
        long oid,
        Kind kind,
        Persistence persistence,
        List<Column> columns,
        List<UniqueKey> keys,
        ReplicaIdentity replicaIdentity,
        RowSecurity rowSecurity,
        boolean firesTriggers,
        boolean firesRules,
        boolean hasExclusionConstraint,
        boolean hasForeignPartition) {

    public TableSchema {
        columns = List.copyOf(columns);
        keys = List.copyOf(keys);
    }

    /// `pg_class.relkind`.
    public enum Kind {
        TABLE,
        PARTITIONED,
        VIEW,
        MATERIALIZED_VIEW,
        FOREIGN,
        SEQUENCE,
        /// An index, a composite type and what else has a name among relations.
        OTHER;

        /// Whether rows of a stream can be written to it.
        public boolean takesRows() {
            return this == TABLE || this == PARTITIONED;
        }
    }

    /// `pg_class.relpersistence`.
    public enum Persistence {
        PERMANENT,
        UNLOGGED,
        TEMPORARY
    }

    /// Row-level security.
    ///
    /// @param enabled policies exist for the table
    /// @param forced they hold for its owner too
    /// @param active they hold for the role that asked
    public record RowSecurity(boolean enabled, boolean forced, boolean active) {}

    /// The column with exactly this name.
    public Optional<Column> column(String name) {
        return columns.stream().filter(column -> column.name().equals(name)).findFirst();
    }

    /// The key by which rows of this table are found: the index chosen as replica identity, else the primary
    /// key. Neither counts while it is invalid, deferrable, or does not cover every row; a server's own
    /// subscriber decides the same way.
    public Optional<UniqueKey> identityKey() {
        Optional<UniqueKey> chosen = keys.stream()
                .filter(UniqueKey::replicaIdentity)
                .filter(UniqueKey::identifiesRows)
                .findFirst();
        return chosen.isPresent()
                ? chosen
                : keys.stream()
                        .filter(UniqueKey::primary)
                        .filter(UniqueKey::identifiesRows)
                        .findFirst();
    }
}
