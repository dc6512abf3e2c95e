package dev.pgapply.schema;

import dev.pgapply.decoder.Relation;
import dev.pgapply.schema.SchemaException.ColumnsMissing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Which column of the target takes which value of the wire: by exact name, in any order, computed once per relation
/// version. A value for a column that the target generates itself is ignored; columns of the target that are not sent
/// keep their values and defaults.
public final class ColumnMapping {

    private static final int NONE = -1;

    private final int[] targetColumns;
    private final int[] wireColumns;

    private ColumnMapping(int[] targetColumns, int[] wireColumns) {
        this.targetColumns = targetColumns;
        this.wireColumns = wireColumns;
    }

    /// Maps every column that the relation sends.
    ///
    /// @throws ColumnsMissing naming all columns that the table does not have
    public static ColumnMapping of(Relation relation, TableSchema table) {
        int[] targetColumns = new int[relation.columns().size()];
        int[] wireColumns = new int[table.columns().size()];
        Arrays.fill(wireColumns, NONE);
        List<String> missing = new ArrayList<>();
        for (int wire = 0; wire < targetColumns.length; wire++) {
            String name = relation.columns().get(wire).name();
            targetColumns[wire] = NONE;
            if (table.column(name).isEmpty()) {
                missing.add(name);
            } else if (!table.column(name).get().isGenerated()) {
                targetColumns[wire] = table.columnIndex(name);
                wireColumns[targetColumns[wire]] = wire;
            }
        }
        if (!missing.isEmpty()) {
            throw new ColumnsMissing(
                    relation.name(),
                    missing,
                    "On the target: ALTER TABLE … ADD COLUMN …; with the source's types; then start the run again.");
        }
        return new ColumnMapping(targetColumns, wireColumns);
    }

    /// Whether the value of this wire column goes to the target.
    public boolean isMapped(int wireColumn) {
        return targetColumns[wireColumn] != NONE;
    }

    /// The index in [TableSchema#columns], -1 if the value is ignored.
    public int targetColumn(int wireColumn) {
        return targetColumns[wireColumn];
    }

    /// The wire column whose value this column of the target takes, -1 if none does.
    public int wireColumn(int targetColumn) {
        return wireColumns[targetColumn];
    }
}
