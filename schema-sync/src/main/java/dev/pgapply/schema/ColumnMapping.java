package dev.pgapply.schema;

import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException.ColumnsMissing;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Where each column of a relation message lands in a target table: by its exact name, in any order. Made once
/// for each version of the relation and of the table.
///
/// A column that the target generates itself takes no value: what is sent for it is ignored. Columns that the
/// target has in addition keep their default or their value.
public final class ColumnMapping {

    /// The target index of a column whose values are not written.
    public static final int IGNORED = -1;

    private final Relation relation;
    private final TableSchema target;
    private final int[] targetIndexes;
    private final Map<String, Integer> wireIndexes;

    private ColumnMapping(
            Relation relation, TableSchema target, int[] targetIndexes, Map<String, Integer> wireIndexes) {
        this.relation = relation;
        this.target = target;
        this.targetIndexes = targetIndexes;
        this.wireIndexes = wireIndexes;
    }

    /// Maps by name.
    ///
    /// @throws ColumnsMissing if the target lacks columns; it names all of them
    public static ColumnMapping of(Relation relation, TableSchema target) {
        Map<String, Integer> targets = new HashMap<>();
        for (int i = 0; i < target.columns().size(); i++) {
            targets.put(target.columns().get(i).name(), i);
        }
        int[] indexes = new int[relation.columns().size()];
        Map<String, Integer> written = new HashMap<>();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < indexes.length; i++) {
            String name = relation.columns().get(i).name();
            Integer index = targets.get(name);
            if (index == null) {
                missing.add(name);
            } else if (target.columns().get(index).isGenerated()) {
                indexes[i] = IGNORED;
            } else {
                indexes[i] = index;
                written.put(name, i);
            }
        }
        if (!missing.isEmpty()) {
            throw new ColumnsMissing(
                    target.name(), missing, "Add them to the target, with a type that takes the source's values.");
        }
        return new ColumnMapping(relation, target, indexes, written);
    }

    public Relation relation() {
        return relation;
    }

    public TableSchema target() {
        return target;
    }

    /// The target table's name.
    public TableName table() {
        return target.name();
    }

    /// How many columns a row of the relation has.
    public int wireColumns() {
        return targetIndexes.length;
    }

    /// The position in [TableSchema#columns()] of a column of the relation, or [#IGNORED].
    public int targetIndex(int wireIndex) {
        return targetIndexes[wireIndex];
    }

    public boolean isIgnored(int wireIndex) {
        return targetIndexes[wireIndex] == IGNORED;
    }

    /// The target column of a column that is not ignored.
    public Column targetColumn(int wireIndex) {
        return target.columns().get(targetIndexes[wireIndex]);
    }

    /// The position in a row of the relation of a target column that is written; empty for the target's own
    /// columns.
    public Optional<Integer> wireIndex(String column) {
        return Optional.ofNullable(wireIndexes.get(column));
    }

    /// The unique key of the target by which a row can be found with what the source sends of old rows: all its
    /// columns are flagged as key in the relation. The table's identity comes first, then the key with the
    /// fewest columns.
    ///
    /// Under `REPLICA IDENTITY FULL` every column is flagged, so any key of the target will do. Empty where
    /// rows can only be found by comparing columns.
    public Optional<UniqueKey> lookupKey() {
        Set<String> sent = relation.columns().stream()
                .filter(Relation.Column::key)
                .map(Relation.Column::name)
                .filter(wireIndexes::containsKey)
                .collect(Collectors.toSet());
        Optional<UniqueKey> identity = target.identityKey().filter(key -> sent.containsAll(key.columns()));
        return identity.isPresent()
                ? identity
                : target.keys().stream()
                        .filter(UniqueKey::identifiesRows)
                        .filter(key -> sent.containsAll(key.columns()))
                        .min(Comparator.comparingInt(key -> key.columns().size()));
    }
}
