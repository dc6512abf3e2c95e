package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.schema.ColumnMapping;
import dev.pgapply.schema.UniqueKey;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// By which of the sent columns a row of the target is found.
///
/// PostgreSQL's own rule (`relation.c`, `execReplication.c`): the target's replica identity index or primary
/// key, if the source sends all its columns as part of the old row; else, where the source sends whole old
/// rows, all columns. Two things more are possible here: another unique index serves as well as the primary
/// key, and a target without any key is searched by the source's key columns.
sealed interface RowIdentity {

    /// The wire columns to compare.
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

    static RowIdentity of(ColumnMapping mapping) {
        Optional<UniqueKey> key = mapping.lookupKey();
        if (key.isPresent()) {
            return new Unique(key.get().columns().stream()
                    .map(name -> mapping.wireIndex(name).orElseThrow())
                    .toList());
        }
        Relation relation = mapping.relation();
        List<Integer> columns = IntStream.range(0, mapping.wireColumns())
                .filter(i -> !mapping.isIgnored(i) && relation.columns().get(i).key())
                .boxed()
                .toList();
        boolean wholeRow = relation.identity() == ReplicaIdentity.FULL;
        return wholeRow || !columns.isEmpty() ? new AnyOne(columns) : new Impossible();
    }
}
