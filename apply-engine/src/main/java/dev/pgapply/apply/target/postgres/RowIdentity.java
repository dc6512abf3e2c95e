package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.schema.ColumnMapping;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.UniqueKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// By which of the sent columns a row of the target is found.
///
/// PostgreSQL's own rule (`relation.c`, `execReplication.c`): the target's replica identity index or primary key, if the
/// source sends all its columns as part of the old row; else, where the source sends whole old rows, all columns. Two
/// things more are possible here: another unique index serves as well as the primary key, and a target without any key
/// is searched by the source's key columns.
sealed interface RowIdentity {

    /// The wire columns to compare, in the order of the relation.
    List<Integer> columns();

    /// At most one row can match: the columns are a unique key of the target.
    record Unique(List<Integer> columns) implements RowIdentity {}

    /// Several rows can match, of which one is changed.
    record AnyOne(List<Integer> columns) implements RowIdentity {}

    /// The source sends no old values: rows can only be inserted.
    record Impossible() implements RowIdentity {
        @Override
        public List<Integer> columns() {
            return List.of();
        }
    }

    static RowIdentity of(Relation relation, TableSchema table, ColumnMapping mapping) {
        for (UniqueKey key : candidates(table)) {
            Optional<List<Integer>> columns = sentAsKey(key, relation, table, mapping);
            if (columns.isPresent()) {
                return new Unique(columns.get());
            }
        }
        if (relation.identity() == ReplicaIdentity.NOTHING) {
            return new Impossible();
        }
        boolean full = relation.identity() == ReplicaIdentity.FULL;
        List<Integer> columns = IntStream.range(0, relation.columns().size())
                .filter(i -> mapping.isMapped(i) && relation.columns().get(i).key())
                .boxed()
                .toList();
        return full || !columns.isEmpty() ? new AnyOne(columns) : new Impossible();
    }

    private static List<UniqueKey> candidates(TableSchema table) {
        List<UniqueKey> candidates = new ArrayList<>();
        table.identityKey().ifPresent(candidates::add);
        table.keys().stream().filter(UniqueKey::identifiesRows).forEach(candidates::add);
        return candidates;
    }

    private static Optional<List<Integer>> sentAsKey(
            UniqueKey key, Relation relation, TableSchema table, ColumnMapping mapping) {
        List<Integer> columns = new ArrayList<>();
        for (String name : key.columns()) {
            int wire = mapping.wireColumn(table.columnIndex(name));
            if (wire < 0 || !relation.columns().get(wire).key()) {
                return Optional.empty();
            }
            columns.add(wire);
        }
        return Optional.of(List.copyOf(columns));
    }
}
