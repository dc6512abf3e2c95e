package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import org.jspecify.annotations.Nullable;

/// The values of many rows as the parameters of one statement.
sealed interface SetParameters permits ColumnArrays, RowArray {

    /// How many parameters there are for so many columns to set.
    int count(int setColumns);

    /// Begins a statement.
    ///
    /// @param set the wire columns that it sets
    void begin(int[] set);

    /// Whether a row's values have the form of those before it; always true for the first one.
    boolean takes(@Nullable Row values, Row key);

    /// Adds a row that is taken.
    ///
    /// @param values of the columns to set; null if there is none
    /// @param key holds the key columns
    /// @return how many bytes the statement has so far
    int add(@Nullable Row values, Row key);

    /// Hands them to the statement that is being bound.
    void bind(Pipeline pipeline);

    /// Gives memory back that only large values need. After the statement is queued.
    void release();
}
