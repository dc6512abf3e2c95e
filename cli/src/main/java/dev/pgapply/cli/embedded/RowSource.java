package dev.pgapply.cli.embedded;

import dev.pgapply.decoder.TableName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One side of a [TableComparison]: the rows of a database as text.
///
/// A row travels as the UTF-8 bytes of PostgreSQL's row text (`(1,"a b",)`), every column cast to text under
/// fixed settings: a NULL is nothing, an empty string is `""`, quotes and backslashes inside quotes are
/// doubled.
public interface RowSource {

    /// All user tables: no partitions (their root stands for them), nothing of the schema `pgapply`.
    List<TableName> tables();

    /// The columns of a table in their order; empty if there is no such table.
    List<String> columns(TableName table);

    /// The rows of a table, reduced to these columns, ascending by their bytes (unsigned).
    Rows rows(TableName table, List<String> columns);

    /// A cursor; bounded memory whatever the table's size, as long as a row fits.
    interface Rows extends AutoCloseable {

        /// The next row, or null after the last one.
        byte @Nullable [] next();

        @Override
        void close();
    }
}
