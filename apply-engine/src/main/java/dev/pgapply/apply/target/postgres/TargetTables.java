package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.CatalogReader;
import dev.pgapply.schema.ColumnMapping;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.TableSchema;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The writers of the tables met so far, one per relation version. A new version of a relation reads the
/// target's catalog again, so that columns added there in the meantime are seen.
final class TargetTables {

    private static final int MAX_WRITERS = 10_000;

    private final Pipeline pipeline;
    private final CatalogReader catalog;
    private final BinaryAcceptance acceptance;
    private final TargetErrors errors;
    private final IdentityHashMap<Relation, TableWriter> byRelation = new IdentityHashMap<>();
    private final Map<Integer, Relation> newest = new HashMap<>();
    private @Nullable TableWriter last;

    TargetTables(Pipeline pipeline, CatalogReader catalog, BinaryAcceptance acceptance, TargetErrors errors) {
        this.pipeline = pipeline;
        this.catalog = catalog;
        this.acceptance = acceptance;
        this.errors = errors;
    }

    /// Relations are compared by identity: the decoder keeps the instance until a message says something else.
    @SuppressWarnings("ReferenceEquality")
    TableWriter writer(Relation relation) {
        TableWriter candidate = last;
        if (candidate != null && candidate.relation() == relation) {
            return candidate;
        }
        TableWriter known = byRelation.get(relation);
        if (known == null) {
            known = make(relation);
        }
        last = known;
        return known;
    }

    /// Whether the writer is there already, so that no look-up is needed.
    boolean knows(Relation relation) {
        return byRelation.containsKey(relation);
    }

    private TableWriter make(Relation relation) {
        if (byRelation.size() >= MAX_WRITERS) {
            forget();
        }
        Relation before = newest.put(relation.oid(), relation);
        if (before != null) {
            TableWriter outdated = byRelation.remove(before);
            if (outdated != null) {
                outdated.close();
            }
        }
        TableSchema table = read(relation.name());
        try {
            TableWriter made = new TableWriter(pipeline, ColumnMapping.of(relation, table), acceptance);
            byRelation.put(relation, made);
            return made;
        } catch (SchemaException e) {
            throw new SchemaMismatch(String.valueOf(e.getMessage()), e.hint(), relation.name(), null);
        }
    }

    private TableSchema read(TableName name) {
        TableSchema table;
        try {
            table = catalog.tables(List.of(name)).get(name);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
        if (table == null) {
            throw new SchemaMismatch(
                    "table " + name + " does not exist on the target",
                    "Create it there, then start the run again.",
                    name,
                    null);
        }
        if (!table.kind().takesRows()) {
            throw new SchemaMismatch(
                    name + " is not a table on the target: " + table.kind(),
                    "Rows can be written to tables and partitioned tables only.",
                    name,
                    null);
        }
        return table;
    }

    /// Forgets everything: the target's tables may have changed.
    void forget() {
        byRelation.values().forEach(TableWriter::close);
        byRelation.clear();
        newest.clear();
        last = null;
    }

    static List<String> keyColumns(Relation relation) {
        return relation.columns().stream()
                .filter(Relation.Column::key)
                .map(Relation.Column::name)
                .toList();
    }
}
