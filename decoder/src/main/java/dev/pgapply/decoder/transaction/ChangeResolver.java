package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.PgOutputMessage;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.Row;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes events of what a transaction consists of, with the relations in force.
final class ChangeResolver {

    private final Relations relations;

    ChangeResolver(Relations relations) {
        this.relations = relations;
    }

    /// The event, or null for a message that only describes.
    ///
    /// @throws UnexpectedMessageException if a relation is unknown, or a row does not fit it
    @Nullable
    TransactionEvent resolve(PgOutputMessage.Streamable message) {
        return switch (message) {
            case PgOutputMessage.Insert insert -> insert(insert);
            case PgOutputMessage.Update update -> update(update);
            case PgOutputMessage.Delete delete -> delete(delete);
            case PgOutputMessage.Truncate truncate -> truncate(truncate);
            case PgOutputMessage.LogicalMessage logical ->
                new TransactionEvent.Message(
                        logical.transactional(), logical.lsn(), logical.prefix(), logical.content());
            case PgOutputMessage.RelationMessage description -> {
                relations.put(description.relation());
                yield null;
            }
            // Values are mapped by the type's OID and the target's catalog; the name adds nothing.
            case PgOutputMessage.TypeMessage ignored -> null;
        };
    }

    private Change insert(PgOutputMessage.Insert insert) {
        Relation relation = relations.get(insert.relationOid());
        checkWidth(relation, insert.newRow().row());
        return new Change.Insert(relation, insert.newRow());
    }

    private Change update(PgOutputMessage.Update update) {
        Relation relation = relations.get(update.relationOid());
        checkWidth(relation, update.newRow().row());
        if (update.oldRow().isPresent()) {
            checkWidth(relation, update.oldRow().get().row());
        }
        return new Change.Update(relation, update.oldRow(), update.newRow());
    }

    private Change delete(PgOutputMessage.Delete delete) {
        Relation relation = relations.get(delete.relationOid());
        checkWidth(relation, delete.oldRow().row());
        return new Change.Delete(relation, delete.oldRow());
    }

    private Change truncate(PgOutputMessage.Truncate truncate) {
        List<Relation> tables = new ArrayList<>();
        for (int oid : truncate.relationOids()) {
            tables.add(relations.get(oid));
        }
        return new Change.Truncate(tables, truncate.cascade(), truncate.restartIdentity());
    }

    private static void checkWidth(Relation relation, Row row) {
        if (row.columnCount() != relation.columns().size()) {
            throw new UnexpectedMessageException("a row of %s has %d values for %d columns"
                    .formatted(
                            relation.name(),
                            row.columnCount(),
                            relation.columns().size()));
        }
    }
}
