package dev.pgapply.decoder;

import java.util.List;

/// A table as the source describes it before the first row that refers to it: only its published columns, in
/// the order of the values of each row.
///
/// @param oid the source's OID, unsigned
/// @see <a href="https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html">Relation</a>
public record Relation(int oid, TableName name, ReplicaIdentity identity, List<Column> columns) {

    public Relation {
        columns = List.copyOf(columns);
    }

    /// A published column.
    ///
    /// @param key whether the column is part of the replica identity
    /// @param typeOid the source's OID of the type, unsigned
    /// @param typmod the type modifier, -1 for none
    public record Column(boolean key, String name, int typeOid, int typmod) {}
}
