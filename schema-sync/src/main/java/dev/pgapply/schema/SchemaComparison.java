package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaDifference.ColumnsGenerated;
import dev.pgapply.schema.SchemaDifference.ColumnsUnfilled;
import dev.pgapply.schema.SchemaDifference.ForeignTable;
import dev.pgapply.schema.SchemaDifference.KindUnsupported;
import dev.pgapply.schema.SchemaDifference.RowSecurityActive;
import dev.pgapply.schema.SchemaDifference.TableMissing;
import dev.pgapply.schema.SchemaDifference.Unlogged;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Compares published tables with a target, by the same rules by which changes are applied: names match
/// exactly, order and types of columns are free, the target may have more.
///
/// @param differences all of them, in the order of the published tables
public record SchemaComparison(List<SchemaDifference> differences) {

    public SchemaComparison {
        differences = List.copyOf(differences);
    }

    /// Compares each published table with the relation of the same name.
    ///
    /// @param source the structures of the published tables; a table that is missing here was dropped and is
    ///     left out
    /// @param target the structures of the target's relations of the same names
    public static SchemaComparison of(
            List<PublishedTable> published, Map<TableName, TableSchema> source, Map<TableName, TableSchema> target) {
        List<SchemaDifference> differences = new ArrayList<>();
        for (PublishedTable table : published) {
            @Nullable TableSchema from = source.get(table.name());
            @Nullable TableSchema to = target.get(table.name());
            if (from == null) {
                continue;
            }
            if (table.hasForeignPartition() || !from.kind().takesRows()) {
                differences.add(new ForeignTable(table.name(), true));
            }
            if (to == null) {
                differences.add(new TableMissing(table, from));
            } else {
                compare(table, from, to, differences);
            }
        }
        return new SchemaComparison(differences);
    }

    private static void compare(
            PublishedTable published, TableSchema from, TableSchema to, List<SchemaDifference> differences) {
        if (to.kind() == TableSchema.Kind.FOREIGN || to.hasForeignPartition()) {
            differences.add(new ForeignTable(to.name(), false));
            return;
        }
        if (!to.kind().takesRows()) {
            differences.add(new KindUnsupported(published, from, to.kind()));
            return;
        }
        List<Column> missing = from.columns().stream()
                .filter(column -> published.columns().contains(column.name()))
                .filter(column -> to.column(column.name()).isEmpty())
                .toList();
        if (!missing.isEmpty()) {
            differences.add(new SchemaDifference.ColumnsMissing(to.name(), missing));
        }
        List<String> generated = to.columns().stream()
                .filter(Column::isGenerated)
                .map(Column::name)
                .filter(published.columns()::contains)
                .toList();
        if (!generated.isEmpty()) {
            differences.add(new ColumnsGenerated(to.name(), generated));
        }
        List<String> unfilled = to.columns().stream()
                .filter(column -> column.notNull() && !column.hasDefault() && !column.isGenerated())
                .filter(column -> column.identity() == Column.Identity.NONE)
                .map(Column::name)
                .filter(name -> !published.columns().contains(name))
                .toList();
        if (!unfilled.isEmpty()) {
            differences.add(new ColumnsUnfilled(to.name(), unfilled));
        }
        if (to.rowSecurity().active()) {
            differences.add(new RowSecurityActive(to.name()));
        }
        if (to.persistence() != TableSchema.Persistence.PERMANENT) {
            differences.add(new Unlogged(to.name()));
        }
    }

    /// Those that keep rows from being written.
    public List<SchemaDifference> blocking() {
        return differences.stream().filter(SchemaDifference::blocks).toList();
    }

    /// Those that only should be known.
    public List<SchemaDifference> warnings() {
        return differences.stream().filter(difference -> !difference.blocks()).toList();
    }
}
