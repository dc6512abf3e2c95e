package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.conflict.ConflictType;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.OpenTransaction;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// One try to write a group: queues its statements in source order, tagged with their events, and compares what
/// the server counted. The object also remembers how far it came, for whoever has to go on after a failure.
final class GroupAttempt {

    /// A target transaction whose COMMIT is queued.
    ///
    /// @param statements how many statements of the round come up to and with the COMMIT
    private record QueuedCommit(int statements, int events, ChangeGroup.Applied applied) {}

    private final PostgresTargetSession session;
    private final Pipeline pipeline;
    private final ChangeGroup group;
    private final EngineListener listener;
    private final boolean continues;

    private boolean begun;
    private TransactionEvent.@Nullable Begin current;
    private int event;
    private long rows;
    private long transactions;

    private final Deque<QueuedCommit> queued = new ArrayDeque<>();
    private int committedEvents;
    private ChangeGroup.Applied committed = ChangeGroup.Applied.NOTHING;

    /// @param open the source transaction that the session has open, which the group then continues
    /// @param openRows how many of its rows have been written
    GroupAttempt(
            PostgresTargetSession session,
            Pipeline pipeline,
            ChangeGroup group,
            TransactionEvent.@Nullable Begin open,
            long openRows,
            EngineListener listener) {
        this.session = session;
        this.pipeline = pipeline;
        this.group = group;
        this.listener = listener;
        this.continues = open != null;
        this.begun = continues;
        this.current = open;
        this.rows = openRows;
    }

    /// Writes the group; the transactions that end in it are committed afterwards.
    void run() throws SQLException {
        List<TransactionEvent> events = group.events();
        for (event = 0; event < events.size(); event++) {
            switch (events.get(event)) {
                case TransactionEvent.Begin begin -> current = begin;
                case Change change -> change(change);
                case TransactionEvent.Commit commit -> end(commit);
                case TransactionEvent.Message ignored -> {}
                case TransactionEvent.Prepare prepare -> end(prepare);
                case TransactionEvent.CommitPrepared ignored -> throw noMember();
                case TransactionEvent.RollbackPrepared ignored -> throw noMember();
                case TransactionEvent.Kept ignored -> throw noMember();
                case OpenTransaction ignored -> throw noMember();
            }
        }
        sync();
    }

    /// If the progress after a PREPARE was refused, what is prepared is here when the group is tried again.
    private void change(Change change) throws SQLException {
        if (current != null && current.prepared() && session.isHere(current.xid())) {
            return;
        }
        begin();
        session.queue(change, event);
        rows++;
    }

    private static IllegalStateException noMember() {
        return new IllegalStateException("belongs to no group");
    }

    private void begin() throws SQLException {
        if (!begun) {
            pipeline.simple("BEGIN");
            begun = true;
        }
    }

    private void end(TransactionEvent.Commit commit) throws SQLException {
        transactions++;
        current = null;
        boolean last = event + 1 == group.complete();
        if (!last && !group.boundaries()) {
            return;
        }
        checkDeferred();
        commit(commit.endLsn(), commit.commitTime());
    }

    /// The progress follows in a transaction of its own: if that does not come to pass, what is prepared shows
    /// that nothing is left to do but that.
    private void end(TransactionEvent.Prepare prepare) throws SQLException {
        transactions++;
        current = null;
        if (!session.isHere(prepare.xid())) {
            begin();
            checkDeferred();
            session.queuePrepare(prepare);
            sync();
            session.prepared(prepare.xid());
        }
        pipeline.simple("BEGIN");
        commit(prepare.endLsn(), prepare.prepareTime());
    }

    private void checkDeferred() throws SQLException {
        if (session.hasDeferredChecks()) {
            sync();
            session.checkDeferred();
        }
    }

    private void commit(Lsn endLsn, Instant commitTime) throws SQLException {
        session.queueProgress(endLsn, commitTime);
        int statements = pipeline.simple("COMMIT") + 1;
        queued.add(new QueuedCommit(statements, event + 1, new ChangeGroup.Applied(transactions, rows, endLsn)));
        begun = false;
        transactions = 0;
        rows = 0;
    }

    private void sync() throws SQLException {
        pipeline.sync();
        report();
        queued.forEach(this::count);
        queued.clear();
    }

    private void count(QueuedCommit commit) {
        committedEvents = commit.events();
        committed = new ChangeGroup.Applied(
                committed.transactions() + commit.applied().transactions(),
                committed.rows() + commit.applied().rows(),
                commit.applied().endLsn());
    }

    /// Looks for changes whose statements, one or several in a row, met no row.
    void report() {
        int statements = pipeline.executed();
        int i = 0;
        while (i < statements) {
            long tag = pipeline.tag(i);
            long affected = pipeline.affected(i);
            i++;
            while (i < statements && tag != Pipeline.NO_TAG && pipeline.tag(i) == tag) {
                affected += pipeline.affected(i);
                i++;
            }
            if (affected == 0 && tag != Pipeline.NO_TAG) {
                missing((int) tag);
            }
        }
    }

    private void missing(int event) {
        TransactionEvent.Begin begin = beginOf(event);
        Lsn commitLsn = begin == null ? Lsn.INVALID : begin.finalLsn();
        switch (group.events().get(event)) {
            case Change.Insert insert ->
                listener.onEvent(new EngineEvent.RowSwallowed(insert.relation().name(), commitLsn));
            case Change.Update update ->
                listener.onEvent(new EngineEvent.ConflictSkipped(
                        update.relation().name(), ConflictType.UPDATE_MISSING, commitLsn));
            case Change.Delete delete ->
                listener.onEvent(new EngineEvent.ConflictSkipped(
                        delete.relation().name(), ConflictType.DELETE_MISSING, commitLsn));
            default -> {
                // TRUNCATE counts nothing.
            }
        }
    }

    private TransactionEvent.@Nullable Begin beginOf(int event) {
        for (int i = event; i >= 0; i--) {
            if (group.events().get(i) instanceof TransactionEvent.Begin begin) {
                return begin;
            }
        }
        return continues ? current : null;
    }

    /// The source transaction whose rows are written but not committed now; null if there is none.
    TransactionEvent.@Nullable Begin open() {
        return begun ? current : null;
    }

    /// How many rows of [#open] are written.
    long openRows() {
        return rows;
    }

    /// What is committed for certain.
    ChangeGroup.Applied committed() {
        return committed;
    }

    /// How many of the group's events are committed for certain.
    int committedEvents() {
        return committedEvents;
    }

    /// After a failure: a statement that was refused proves that the commits before it have happened.
    void settle(SQLException failure) {
        if (failure instanceof PipelineException refused && !refused.connectionLost()) {
            queued.stream()
                    .filter(commit -> commit.statements() <= refused.index())
                    .forEach(this::count);
        }
        queued.clear();
    }

    /// Whether what failed belongs to a transaction that an earlier group began.
    boolean failedInContinuation() {
        return continues && committedEvents == 0;
    }

    /// The change that was refused, or the transaction whose COMMIT was.
    TargetErrors.@Nullable Place place(SQLException failure) {
        int at = event;
        if (failure instanceof PipelineException refused && !refused.connectionLost()) {
            at = eventAt(refused.index());
        }
        at = Math.min(at, group.events().size() - 1);
        TransactionEvent.Begin begin = beginOf(at);
        if (begin == null) {
            return null;
        }
        return switch (group.events().get(at)) {
            case Change.Insert insert -> place(begin, insert, insert.relation(), failure);
            case Change.Update update -> place(begin, update, update.relation(), failure);
            case Change.Delete delete -> place(begin, delete, delete.relation(), failure);
            case Change.Truncate truncate ->
                new TargetErrors.Place(truncate.relations().getFirst().name(), null, List.of(), begin);
            default -> new TargetErrors.Place(null, null, List.of(), begin);
        };
    }

    private TargetErrors.Place place(
            TransactionEvent.Begin begin, Change change, Relation relation, SQLException failure) {
        OptionalInt parameter = new ServerWords(failure).parameter();
        String column = parameter.isPresent()
                ? session.column(change, relation, parameter.getAsInt()).orElse(null)
                : null;
        return new TargetErrors.Place(relation.name(), column, TargetTables.keyColumns(relation), begin);
    }

    /// The events before the transaction that could not be queued; nothing of them is committed yet.
    ChangeGroup before() {
        int begin = Math.min(event, group.events().size() - 1);
        while (begin > 0 && !(group.events().get(begin) instanceof TransactionEvent.Begin)) {
            begin--;
        }
        return new ChangeGroup(
                group.events().subList(committedEvents, Math.max(begin, committedEvents)),
                begin - committedEvents,
                true);
    }

    /// Where the transaction that could not be queued was committed.
    Lsn failedAt() {
        TransactionEvent.Begin begin = beginOf(Math.min(event, group.events().size() - 1));
        return begin == null ? Lsn.INVALID : begin.finalLsn();
    }

    /// The event of a statement; for a COMMIT the one of the last change before it.
    private int eventAt(int statement) {
        for (int i = Math.min(statement, pipeline.executed() - 1); i >= 0; i--) {
            if (pipeline.tag(i) != Pipeline.NO_TAG) {
                return (int) pipeline.tag(i);
            }
        }
        return event;
    }
}
