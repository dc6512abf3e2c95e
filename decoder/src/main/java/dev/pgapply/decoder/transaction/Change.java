package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.OldRow;
import dev.pgapply.decoder.Relation;
import java.util.List;
import java.util.Optional;

/// A change of table contents, with the relation as it was in force at the source.
///
/// All changes of a table carry the same [Relation] instance until the source has sent one that differs, so a
/// writer may
/// compare by reference. Every row has as many values as its relation has columns.
public sealed interface Change extends TransactionEvent {

    /// A row is new.
    ///
    /// @param newRow may be partial only where a row filter turned an UPDATE into an INSERT
    record Insert(Relation relation, NewRow newRow) implements Change {

        @Override
        public long retainedBytes() {
            return 40 + newRow.row().retainedBytes();
        }
    }

    /// A row has other values than before.
    ///
    /// @param oldRow absent if the source saw no need to send it: the key in the new row then finds the row
    record Update(Relation relation, Optional<OldRow> oldRow, NewRow newRow) implements Change {

        @Override
        public long retainedBytes() {
            return 40
                    + newRow.row().retainedBytes()
                    + (oldRow.isPresent() ? 32 + oldRow.get().row().retainedBytes() : 0);
        }
    }

    record Delete(Relation relation, OldRow oldRow) implements Change {

        @Override
        public long retainedBytes() {
            return 40 + oldRow.row().retainedBytes();
        }
    }

    /// One statement: the tables are emptied together.
    record Truncate(List<Relation> relations, boolean cascade, boolean restartIdentity) implements Change {

        public Truncate {
            relations = List.copyOf(relations);
        }

        @Override
        public long retainedBytes() {
            return 48 + 8L * relations.size();
        }
    }
}
