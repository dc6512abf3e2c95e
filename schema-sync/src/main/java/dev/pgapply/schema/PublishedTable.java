package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;
import java.util.List;
import java.util.Optional;

/// A table as some publications together offer it: under this name its changes arrive, and so it is copied.
///
/// @param oid `pg_class.oid` at the source
/// @param kind a table, the root of a partition tree that is published as one table, or what cannot be followed
/// @param columns the published ones in the table's order
/// @param columnList whether columns that would be published by default are left out
/// @param generatedColumns the published ones that are generated at the source (18 and newer)
/// @param rowFilter an SQL condition that every copied row meets; names in it are qualified for an empty
///     `search_path`
/// @param estimatedRows the server's own estimate over all partitions, -1 where it never counted
/// @param estimatedBytes heap and TOAST over all partitions
/// @param rowSecurityActive policies hide rows from the role that asked
/// @param hasForeignPartition a partition below it is a foreign table: its rows would be copied but never
///     followed
/// @param publishesOldRows updates or deletes are published, so rows must have an identity
/// @param hasIdentity the source logs what identifies a row that is updated or deleted, in every partition
public record PublishedTable(
        TableName name,
        long oid,
        TableSchema.Kind kind,
        List<String> columns,
        boolean columnList,
        List<String> generatedColumns,
        Optional<String> rowFilter,
        long estimatedRows,
        long estimatedBytes,
        boolean rowSecurityActive,
        boolean hasForeignPartition,
        boolean publishesOldRows,
        boolean hasIdentity) {

    public PublishedTable {
        columns = List.copyOf(columns);
        generatedColumns = List.copyOf(generatedColumns);
    }

    /// The same table with other columns.
    public PublishedTable withColumns(List<String> others) {
        return new PublishedTable(
                name,
                oid,
                kind,
                others,
                columnList,
                generatedColumns.stream().filter(others::contains).toList(),
                rowFilter,
                estimatedRows,
                estimatedBytes,
                rowSecurityActive,
                hasForeignPartition,
                publishesOldRows,
                hasIdentity);
    }

    /// The source refuses UPDATE and DELETE of this table for as long as that is so.
    public boolean lacksIdentity() {
        return publishesOldRows && !hasIdentity;
    }
}
