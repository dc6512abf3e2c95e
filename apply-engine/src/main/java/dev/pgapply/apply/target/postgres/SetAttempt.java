package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One try to write a group as sets, rows, progress and COMMIT in one round trip. It decides nothing: whatever
/// is not as expected makes it fail before the COMMIT, and then the group has to be applied change by change.
///
/// If the group goes on with a transaction that is open, only this group's part is undone by [#undo], behind a
/// savepoint.
final class SetAttempt {

    /// With fewer changes, reducing them costs more than it saves.
    private static final int MIN_CHANGES = 20;

    private static final String SAVEPOINT = "SAVEPOINT pgapply_sets";
    private static final String RELEASE = "RELEASE SAVEPOINT pgapply_sets";
    private static final String ROLLBACK_TO = "ROLLBACK TO SAVEPOINT pgapply_sets";

    private final PostgresTargetSession session;
    private final Pipeline pipeline;
    private final WriteSets sets;
    private final ChangeGroup group;
    private final GroupAttempt reporting;
    private final boolean continues;

    private TransactionEvent.@Nullable Begin current;
    private TransactionEvent.@Nullable Commit lastCommit;
    private long rows;
    private long transactions;
    private ChangeGroup.Applied committed = ChangeGroup.Applied.NOTHING;

    /// @param open the source transaction that the session has open, which the group then continues
    /// @param openRows how many of its rows have been written
    SetAttempt(
            PostgresTargetSession session,
            Pipeline pipeline,
            WriteSets sets,
            ChangeGroup group,
            TransactionEvent.@Nullable Begin open,
            long openRows,
            EngineListener listener) {
        this.session = session;
        this.pipeline = pipeline;
        this.sets = sets;
        this.group = group;
        this.reporting = new GroupAttempt(session, pipeline, group, open, openRows, listener);
        this.continues = open != null;
        this.current = open;
        this.rows = openRows;
    }

    /// Whether the group is one target transaction, or a part of one, with so many changes that sets can help.
    static boolean suits(ChangeGroup group) {
        List<TransactionEvent> events = group.events();
        if (events.size() < MIN_CHANGES || (group.complete() > 0 && group.complete() < events.size())) {
            return false;
        }
        int changes = 0;
        int commits = 0;
        for (TransactionEvent event : events) {
            switch (event) {
                case Change ignored -> changes++;
                case TransactionEvent.Commit ignored -> commits++;
                case TransactionEvent.Begin ignored -> {}
                case TransactionEvent.Message ignored -> {}
                default -> {
                    return false;
                }
            }
        }
        return changes >= MIN_CHANGES && (commits <= 1 || !group.boundaries());
    }

    /// Writes the group.
    ///
    /// @throws Doubt and everything else: nothing of it is committed, unless the connection is lost
    void run() throws SQLException {
        sets.begin();
        pipeline.simple(continues ? SAVEPOINT : "BEGIN");
        List<TransactionEvent> events = group.events();
        for (int event = 0; event < events.size(); event++) {
            switch (events.get(event)) {
                case TransactionEvent.Begin begin -> current = begin;
                case Change change -> {
                    sets.add(change, event);
                    rows++;
                }
                case TransactionEvent.Commit commit -> {
                    lastCommit = commit;
                    current = null;
                    transactions++;
                }
                case TransactionEvent.Message ignored -> {}
                default -> throw new IllegalStateException("belongs to no set");
            }
        }
        sets.flush();
        TransactionEvent.Commit commit = lastCommit;
        if (commit != null) {
            commit(commit);
        } else {
            if (continues) {
                pipeline.simple(RELEASE);
            }
            sync();
        }
        sets.succeeded();
    }

    private void commit(TransactionEvent.Commit commit) throws SQLException {
        if (session.hasDeferredChecks()) {
            sync();
            session.checkDeferred();
        }
        session.queueProgress(commit.endLsn(), commit.commitTime());
        pipeline.simple("COMMIT");
        sync();
        committed = new ChangeGroup.Applied(transactions, rows, commit.endLsn());
        rows = 0;
    }

    private void sync() throws SQLException {
        pipeline.sync();
        reporting.report();
        sets.roundEnded();
    }

    /// After a failure, in a group that continues: undoes the group and leaves the transaction open.
    ///
    /// @return false if the transaction is gone
    boolean undo() throws SQLException {
        pipeline.reset();
        if (pipeline.transactionStatus() == 'I') {
            return false;
        }
        pipeline.simple(ROLLBACK_TO);
        pipeline.simple(RELEASE);
        pipeline.sync();
        return true;
    }

    boolean continues() {
        return continues;
    }

    /// The table whose changes have failed.
    Optional<TableName> failedTable(SQLException failure) {
        if (!(failure instanceof PipelineException refused) || refused.connectionLost()) {
            return Optional.empty();
        }
        return refused.tag() == Pipeline.NO_TAG ? sets.tableOf(refused.index()) : table((int) refused.tag());
    }

    private Optional<TableName> table(int event) {
        return switch (group.events().get(event)) {
            case Change.Insert insert -> Optional.of(insert.relation().name());
            case Change.Update update -> Optional.of(update.relation().name());
            case Change.Delete delete -> Optional.of(delete.relation().name());
            default -> Optional.empty();
        };
    }

    /// The source transaction whose rows are written but not committed now; null if there is none.
    TransactionEvent.@Nullable Begin open() {
        return current;
    }

    /// How many rows of [#open] are written.
    long openRows() {
        return rows;
    }

    /// What is committed for certain.
    ChangeGroup.Applied committed() {
        return committed;
    }

    /// Where the group ends, or begins if it has no end.
    Lsn position() {
        TransactionEvent.Commit commit = lastCommit;
        TransactionEvent.Begin begin = current;
        return commit != null ? commit.endLsn() : begin != null ? begin.finalLsn() : Lsn.INVALID;
    }
}
