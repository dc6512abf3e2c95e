package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.TransactionEvent;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Writes a group as sets, if it is large and nothing speaks against it ([SetAttempt]); otherwise, and after
/// every doubt, its changes one by one in source order ([GroupAttempt]). Either way all statements, the progress
/// and the commit are one round trip. What the server counts of single changes is compared afterwards: a
/// statement that met no row is reported and skipped, as PostgreSQL's own subscriber does.
///
/// When the server refuses a statement, nothing of its target transaction remains; the group's transactions are
/// then applied again, each in a target transaction of its own, up to the one that fails.
final class PostgresTargetSession implements TargetSession {

    private static final String LOCK_PATIENCE = "1s";
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final int PG_LSN_OID = 3220;
    private static final int TIMESTAMPTZ_OID = 1184;

    private final PostgresSession session;
    private final Pipeline pipeline;
    private final ProgressStore progressStore;
    private final Lsn progress;
    private final TargetTables tables;
    private final PostgresSession catalog;
    private final DeferredUniqueness deferred;
    private final TargetErrors errors;
    private final EngineListener listener;
    private final PreparedSql writeProgress;
    private final WriteSets sets;
    private final boolean inOrderOnly;
    private final PreparedTransactions prepared;
    private final PreparedDecisions decisions;

    /// Frees what this process holds on other sessions; null if it holds nothing. While it is set, locks are not
    /// waited for long.
    private @Nullable Runnable release;

    /// The source transaction whose changes have been written but not committed, between two groups.
    private TransactionEvent.@Nullable Begin open;

    private long openRows;

    /// @param inOrderOnly never write sets, since triggers may look at what the changes before have left
    PostgresTargetSession(
            PostgresSession session,
            Pipeline pipeline,
            ProgressStore progressStore,
            Lsn progress,
            PreparedTransactions prepared,
            TargetTables tables,
            PostgresSession catalog,
            TargetErrors errors,
            EngineListener listener,
            boolean inOrderOnly) {
        this.session = session;
        this.pipeline = pipeline;
        this.progressStore = progressStore;
        this.progress = progress;
        this.prepared = prepared;
        this.decisions = new PreparedDecisions(this, pipeline, progressStore, prepared, catalog);
        this.tables = tables;
        this.catalog = catalog;
        this.deferred = new DeferredUniqueness(pipeline);
        this.errors = errors;
        this.listener = listener;
        this.writeProgress = pipeline.prepare(progressStore.writeSql(), PG_LSN_OID, TIMESTAMPTZ_OID);
        this.sets = new WriteSets(pipeline, tables, catalog, this);
        this.inOrderOnly = inOrderOnly;
    }

    @Override
    public Lsn progress() {
        return progress;
    }

    @Override
    public void start(Lsn start) {
        try {
            pipeline.simple("BEGIN");
            pipeline.simple("SET LOCAL synchronous_commit = on");
            finishWithProgress(start, Instant.EPOCH);
        } catch (SQLException e) {
            throw errors.translate("storing the start position", e);
        }
    }

    /// Commits the progress with what was queued before.
    void finishWithProgress(Lsn endLsn, Instant commitTime) throws SQLException {
        queueProgress(endLsn, commitTime);
        pipeline.simple("COMMIT");
        pipeline.sync();
    }

    /// Begins a transaction ahead of its changes.
    void begin(TransactionEvent.Begin begin) {
        run("BEGIN");
        open = begin;
        openRows = 0;
    }

    /// Gives the open transaction its true beginning.
    void continues(TransactionEvent.Begin begin) {
        open = begin;
    }

    /// How many rows of the open transaction are written.
    long openRows() {
        return openRows;
    }

    void openRows(long rows) {
        openRows = rows;
    }

    /// Runs a statement that has no parameters and answers nothing.
    void run(String sql) {
        try {
            pipeline.simple(sql);
            pipeline.sync();
        } catch (SQLException e) {
            throw failed(sql.toLowerCase(Locale.ROOT), e);
        }
    }

    /// Undoes what is open.
    void rollback() {
        try {
            rollBack();
        } catch (SQLException e) {
            throw errors.translate("rolling back", e);
        }
    }

    @Override
    public void yieldTo(@Nullable Runnable holder) {
        if ((holder == null) != (release == null)) {
            run("SET lock_timeout = " + Quoting.literal(holder == null ? "0" : LOCK_PATIENCE));
        }
        release = holder;
    }

    @Override
    public boolean isHere(int xid) {
        return prepared.isHere(xid);
    }

    @Override
    public void commitPrepared(TransactionEvent.CommitPrepared decided) {
        try {
            decisions.commit(decided);
        } catch (SQLException e) {
            throw failed("committing prepared transaction " + prepared.gid(decided.xid()), e);
        }
    }

    @Override
    public void rollbackPrepared(TransactionEvent.RollbackPrepared decided) {
        try {
            decisions.rollBack(decided);
        } catch (SQLException e) {
            throw failed("rolling back prepared transaction " + prepared.gid(decided.xid()), e);
        }
    }

    private ApplyException failed(String doing, SQLException e) {
        ApplyException meaning = errors.translate(doing, e);
        rollback(meaning);
        return meaning;
    }

    /// Queues the end of a transaction that stays prepared, and the progress with it.
    void queuePrepare(TransactionEvent.Prepare prepare) throws SQLException {
        pipeline.simple(prepared.witnessSql(prepare.xid()));
        pipeline.simple(prepared.prepareSql(prepare.xid()));
    }

    /// It has reached the server.
    void prepared(int xid) {
        prepared.prepared(xid);
    }

    @Override
    public ChangeGroup.Applied apply(ChangeGroup group) {
        if (!inOrderOnly && SetAttempt.suits(group)) {
            SetAttempt attempt = new SetAttempt(this, pipeline, sets, group, open, openRows, listener);
            if (writeSets(attempt, group)) {
                return attempt.committed();
            }
        }
        return applyInOrder(group);
    }

    /// @return false if the group has to be applied change by change; nothing of it is left then
    private boolean writeSets(SetAttempt attempt, ChangeGroup group) {
        try {
            attempt.run();
            open = attempt.open();
            openRows = open == null ? 0 : attempt.openRows();
            return true;
        } catch (SQLException e) {
            Cause cause = cause(e);
            undo(attempt, cause == Cause.OWN_LOCK ? null : errors.translate("writing", e));
            fallBack(attempt.failedTable(e), ServerWords.reason(e), group);
            switch (cause) {
                case THE_CHANGE -> {}
                case STRUCTURE -> {
                    tables.forget();
                    sets.forget();
                }
                case OWN_LOCK -> yieldTo(null);
            }
        } catch (ApplyException e) {
            undo(attempt, e);
            fallBack(Optional.empty(), e.code().toString(), group);
        } catch (Doubt e) {
            undo(attempt, null);
            fallBack(Optional.of(e.table()), String.valueOf(e.getMessage()), group);
        }
        return false;
    }

    private void fallBack(Optional<TableName> table, String reason, ChangeGroup group) {
        sets.failed(table);
        long changes = group.events().stream().filter(Change.class::isInstance).count();
        listener.onEvent(new EngineEvent.AppliedInOrder(table, reason, changes));
    }

    private void undo(SetAttempt attempt, @Nullable ApplyException meaning) {
        if (meaning instanceof TargetLost || !attempt.continues()) {
            rollback(meaning);
            if (meaning instanceof TargetLost) {
                throw meaning;
            }
            return;
        }
        try {
            if (!attempt.undo()) {
                rollback(meaning);
                throw new TargetLost(
                        ErrorCode.TARGET_LOST,
                        "the target has ended a transaction that is larger than a group: it is received again",
                        "",
                        meaning);
            }
        } catch (SQLException e) {
            throw errors.translate("rolling back", e);
        }
    }

    private ChangeGroup.Applied applyInOrder(ChangeGroup group) {
        GroupAttempt attempt = attempt(group);
        try {
            run(attempt);
            return attempt.committed();
        } catch (SQLException e) {
            attempt.settle(e);
            ApplyException meaning = errors.translate("writing", e, attempt.place(e));
            return oneByOne(group, attempt, meaning, cause(e));
        } catch (ApplyException e) {
            return oneByOne(group, attempt, e, Cause.THE_CHANGE);
        }
    }

    /// What made a group fail, for whoever tries again.
    private enum Cause {
        THE_CHANGE,
        /// The target's tables are not what they were when the statements were made.
        STRUCTURE,
        /// A lock that this process itself held elsewhere, and has freed.
        OWN_LOCK
    }

    private Cause cause(SQLException e) {
        Runnable holder = release;
        if (holder != null && LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
            holder.run();
            return Cause.OWN_LOCK;
        }
        return TargetErrors.structureChanged(e) ? Cause.STRUCTURE : Cause.THE_CHANGE;
    }

    /// If the target's tables have changed since the statements were made, they are made anew; otherwise the
    /// failing transaction will stand alone.
    private ChangeGroup.Applied oneByOne(ChangeGroup group, GroupAttempt failed, ApplyException meaning, Cause cause) {
        rollback(meaning);
        switch (cause) {
            case THE_CHANGE -> {
                if (meaning instanceof TargetLost || failed.failedInContinuation()) {
                    throw meaning;
                }
            }
            case STRUCTURE -> {
                tables.forget();
                sets.forget();
            }
            case OWN_LOCK -> yieldTo(null);
        }
        if (failed.failedInContinuation()) {
            // What came before in this transaction is rolled back as well, so it has to be received again.
            throw new TargetLost(ErrorCode.TARGET_LOST, String.valueOf(meaning.getMessage()), meaning.hint(), meaning);
        }
        int from = failed.committedEvents();
        List<TransactionEvent> rest =
                group.events().subList(from, group.events().size());
        GroupAttempt attempt = attempt(new ChangeGroup(rest, group.complete() - from, true));
        try {
            run(attempt);
        } catch (SQLException e) {
            attempt.settle(e);
            ApplyException stop = errors.translate("writing", e, attempt.place(e));
            rollback(stop);
            throw stop;
        } catch (ApplyException e) {
            throw stop(attempt, e);
        }
        return new ChangeGroup.Applied(
                failed.committed().transactions() + attempt.committed().transactions(),
                failed.committed().rows() + attempt.committed().rows(),
                failed.committed().endLsn().max(attempt.committed().endLsn()));
    }

    /// A change could not even be written down: what came before its transaction is committed all the same.
    private ApplyException stop(GroupAttempt failed, ApplyException e) {
        rollback(e);
        ChangeGroup before = failed.before();
        if (!before.events().isEmpty()) {
            GroupAttempt attempt = attempt(before);
            try {
                run(attempt);
            } catch (SQLException other) {
                attempt.settle(other);
                ApplyException stop = errors.translate("writing", other, attempt.place(other));
                rollback(stop);
                return stop;
            }
        }
        return e instanceof SchemaMismatch mismatch && mismatch.lsn().isEmpty()
                ? new SchemaMismatch(
                        String.valueOf(mismatch.getMessage()),
                        mismatch.hint(),
                        mismatch.table().orElse(null),
                        failed.failedAt())
                : e;
    }

    private GroupAttempt attempt(ChangeGroup group) {
        return new GroupAttempt(this, pipeline, group, open, openRows, listener);
    }

    private void run(GroupAttempt attempt) throws SQLException {
        attempt.run();
        open = attempt.open();
        openRows = open == null ? 0 : attempt.openRows();
    }

    private void rollback(@Nullable ApplyException meaning) {
        try {
            rollBack();
        } catch (SQLException e) {
            if (!(meaning instanceof TargetLost)) {
                throw errors.translate("rolling back", e);
            }
        }
    }

    void rollBack() throws SQLException {
        open = null;
        openRows = 0;
        deferred.clear();
        pipeline.reset();
        pipeline.simple("ROLLBACK");
        if (!progressStore.resetSql().isEmpty()) {
            // What the failed transaction set would move progress with the next commit of this session.
            pipeline.simple(progressStore.resetSql());
        }
        pipeline.sync();
    }

    /// Queues a change, tagged with its event.
    void queue(Change change, int event) throws SQLException {
        switch (change) {
            case Change.Insert insert ->
                deferred.note(tables.writer(insert.relation()), insert.newRow().row())
                        .insert(insert.newRow(), event);
            case Change.Update update ->
                deferred.note(tables.writer(update.relation()), update.newRow().row())
                        .update(update.oldRow(), update.newRow(), event);
            case Change.Delete delete -> tables.writer(delete.relation()).delete(delete.oldRow(), event);
            case Change.Truncate truncate -> {
                List<TableSchema> named = truncate.relations().stream()
                        .map(relation -> tables.writer(relation).table())
                        .toList();
                PreparedSql statement = pipeline.prepare(RowStatements.truncate(named, truncate.restartIdentity()));
                pipeline.bind(statement, 0);
                pipeline.execute(event);
                pipeline.close(statement);
            }
        }
    }

    /// The column whose value a parameter of the change's statement carries.
    Optional<String> column(Change change, Relation relation, int parameter) {
        return tables.writer(relation).column(change, parameter);
    }

    /// Queues what must come last before COMMIT.
    void queueProgress(Lsn endLsn, Instant commitTime) throws SQLException {
        pipeline.bind(writeProgress, 2);
        pipeline.parameter(endLsn.toString());
        pipeline.parameter(ProgressStore.timestamp(commitTime));
        pipeline.execute(Pipeline.NO_TAG);
    }

    boolean hasDeferredChecks() {
        return !deferred.isEmpty();
    }

    /// What is written must have reached the server.
    void checkDeferred() throws SQLException {
        deferred.check();
    }

    @Override
    public void close() {
        abort();
    }

    @Override
    public void abort() {
        pipeline.close();
        session.abort();
        catalog.abort();
    }
}
