package dev.pgapply.apply;

import dev.pgapply.conflict.ConflictType;
import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// One thing that happened, for progress bars, log lines and counters. No event holds a cell value.
public sealed interface EngineEvent {

    /// Both sides answered. Versions are `server_version_num` (`180006`).
    record Connected(int sourceVersion, int targetVersion) implements EngineEvent {}

    /// These tables are copied now, under one snapshot.
    record CopyStarted(List<TablePlan> tables, Lsn copyLsn) implements EngineEvent {}

    /// A table of a copy with the catalog's estimate of its size.
    record TablePlan(TableName table, long estimatedRows, long estimatedBytes) {}

    /// So much of a table has been read so far in this copy.
    record CopyProgress(TableName table, long rows, long bytes) implements EngineEvent {}

    /// The table's rows and its state are committed on the target.
    record TableCopied(TableName table, long rows, long bytes, Duration elapsed) implements EngineEvent {}

    record CopyFinished(int tables) implements EngineEvent {}

    /// Changes flow from this position on.
    record StreamingStarted(Lsn from) implements EngineEvent {}

    /// A target transaction was committed: so many source transactions with so many row changes, up to this
    /// position.
    ///
    /// @param commitTime when the last of them was committed at the source
    record Committed(long transactions, long rows, Lsn endLsn, Instant commitTime) implements EngineEvent {}

    /// The newest position of the source that was heard of.
    record SourcePosition(Lsn lsn) implements EngineEvent {}

    /// This position is on the target's disk and was confirmed to the source.
    record Confirmed(Lsn flushed) implements EngineEvent {}

    /// A change found no row where there should be one: it is left out, and the run goes on.
    record ConflictSkipped(TableName table, ConflictType type, Lsn commitLsn) implements EngineEvent {}

    /// A trigger or rule of the target took a row away that was to be inserted: the run goes on.
    record RowSwallowed(TableName table, Lsn commitLsn) implements EngineEvent {}

    /// A group of changes could not be written as sets and is applied change by change instead. This alone is no
    /// conflict; if there is one, an event of its own follows.
    ///
    /// @param table the table that is to blame, where one is
    /// @param changes how many changes the group has
    record AppliedInOrder(Optional<TableName> table, String reason, long changes) implements EngineEvent {}

    /// Somebody called `pg_logical_emit_message` at the source (14 or newer). A transactional one is told when its
    /// transaction is applied, and once more if that has to be repeated; one that was sent in a large transaction
    /// under a savepoint that was rolled back may be told all the same, since the protocol does not say where it
    /// was sent. The content is the sender's, and is never logged.
    record LogicalMessage(boolean transactional, Lsn lsn, String prefix, Bytes content) implements EngineEvent {}

    /// Changes of a table that is not followed (not in the publication at the copy, or not ready) were left
    /// out.
    record Warning(String message) implements EngineEvent {}

    /// A connection is lost; the next attempt comes after the delay.
    record Retrying(ApplyException reason, Duration delay) implements EngineEvent {}
}
