package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;
import java.util.Collection;
import java.util.Map;

/// Reads structures of one database.
@FunctionalInterface
public interface CatalogReader {

    /// The relations with these names, whatever their kind, in the names' order; what does not exist is left
    /// out. Costs a handful of round trips whatever the number of names.
    ///
    /// @throws SchemaException if the catalog cannot be read
    Map<TableName, TableSchema> tables(Collection<TableName> names);
}
