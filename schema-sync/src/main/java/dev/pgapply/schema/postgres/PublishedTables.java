package dev.pgapply.schema.postgres;

import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaException.PublicationUnusable;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.Publications.Publication;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Joins what several publications say of the same tables, by the server's own rules.
final class PublishedTables {

    private PublishedTables() {}

    static List<PublishedTable> merge(
            List<PublicationMember> members,
            Map<String, Publication> publications,
            PublishedRelations relations,
            int serverVersion) {
        Map<Long, List<PublicationMember>> byTable = members.stream()
                .collect(Collectors.groupingBy(PublicationMember::oid, TreeMap::new, Collectors.toList()));
        // A partitioned table is listed only by publications that publish through the root.
        Set<Long> roots = byTable.keySet().stream()
                .filter(oid -> kind(relations, oid) == TableSchema.Kind.PARTITIONED)
                .collect(Collectors.toSet());
        List<PublishedTable> tables = new ArrayList<>();
        byTable.forEach((oid, sameTable) -> {
            PublishedRelations.@Nullable Facts facts = relations.facts(oid);
            if (facts != null && !relations.isBelow(oid, roots)) {
                tables.add(table(sameTable, publications, facts, serverVersion));
            }
        });
        tables.sort(Comparator.comparing(PublishedTable::name));
        return tables;
    }

    private static TableSchema.@Nullable Kind kind(PublishedRelations relations, long oid) {
        PublishedRelations.@Nullable Facts facts = relations.facts(oid);
        return facts == null ? null : facts.kind();
    }

    private static PublishedTable table(
            List<PublicationMember> members,
            Map<String, Publication> publications,
            PublishedRelations.Facts facts,
            int serverVersion) {
        PublicationMember first = members.getFirst();
        List<String> columns = columns(members, facts, serverVersion);
        return new PublishedTable(
                first.name(),
                first.oid(),
                facts.kind(),
                columns,
                !columns.containsAll(facts.columns()),
                columns.stream().filter(facts.generated()::contains).toList(),
                rowFilter(members),
                Math.round(facts.rows()),
                facts.bytes(),
                facts.rowSecurityActive(),
                facts.hasForeignPartition(),
                members.stream()
                        .map(member -> publications.get(member.publication()))
                        .anyMatch(
                                publication -> publication != null && (publication.updates() || publication.deletes())),
                facts.hasIdentity());
    }

    // Before 18 generated columns are never published, though some versions list them.
    private static List<String> columns(
            List<PublicationMember> members, PublishedRelations.Facts facts, int serverVersion) {
        Set<List<String>> lists = members.stream()
                .map(member -> member.columns().orElse(facts.columns()))
                .map(names -> names.stream()
                        .filter(name ->
                                serverVersion >= 180_000 || !facts.generated().contains(name))
                        .toList())
                .collect(Collectors.toSet());
        if (lists.size() > 1) {
            Set<String> names =
                    members.stream().map(PublicationMember::publication).collect(Collectors.toCollection(TreeSet::new));
            throw new PublicationUnusable(
                    "table " + members.getFirst().name() + " has different column lists in the publications "
                            + String.join(", ", names),
                    "Give it the same columns in each of them, or follow them in separate subscriptions.");
        }
        return lists.iterator().next();
    }

    private static Optional<String> rowFilter(List<PublicationMember> members) {
        if (members.stream().anyMatch(member -> member.rowFilter().isEmpty())) {
            return Optional.empty();
        }
        Set<String> filters = members.stream()
                .map(member -> member.rowFilter().orElseThrow())
                .collect(Collectors.toCollection(TreeSet::new));
        return Optional.of(filters.stream().map(filter -> "(" + filter + ")").collect(Collectors.joining(" OR ")));
    }
}
