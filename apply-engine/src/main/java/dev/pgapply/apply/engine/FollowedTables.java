package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.tablesync.CopyJob;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaComparison;
import dev.pgapply.schema.SchemaDifference;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresCatalogReader;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SourceCopyQuery;
import dev.pgapply.schema.postgres.TableStates;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import dev.pgapply.schema.postgres.TargetDdl;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Which tables are followed: what the publications offer, and how far each has come on the target. One per attempt,
/// on the running thread.
final class FollowedTables {

    private final Job job;
    private final Connection target;
    private final TableStates states;
    private final List<PublishedTable> published;
    private final Map<TableName, TableSchema> onSource;
    private final Map<TableName, TableSchema> onTarget;
    private final Map<TableName, TableState> stateOf;

    private FollowedTables(
            Job job,
            Connection target,
            TableStates states,
            List<PublishedTable> published,
            Map<TableName, TableSchema> onSource,
            Map<TableName, TableSchema> onTarget,
            Map<TableName, TableState> stateOf) {
        this.job = job;
        this.target = target;
        this.states = states;
        this.published = published;
        this.onSource = onSource;
        this.onTarget = onTarget;
        this.stateOf = stateOf;
    }

    /// Compares what is published with what is known, and checks that the target can take it. Writes nothing.
    ///
    /// @throws SetupException listing everything that is missing
    static FollowedTables compare(
            Job job, List<PublishedTable> published, PostgresSession source, PostgresSession target) {
        TableStates states = new TableStates(job.subscription().name());
        try {
            List<TableName> names = published.stream().map(PublishedTable::name).toList();
            FollowedTables tables = new FollowedTables(
                    job,
                    target.connection(),
                    states,
                    published,
                    new PostgresCatalogReader(source).tables(names),
                    new PostgresCatalogReader(target).tables(names),
                    new HashMap<>(states.read(target.connection())));
            tables.requireStructure();
            tables.requireEmpty();
            return tables;
        } catch (SQLException e) {
            throw job.target().errors().translate("reading the state of the tables", e);
        }
    }

    private void requireStructure() {
        SchemaComparison comparison = SchemaComparison.of(published, onSource, onTarget);
        if (!comparison.blocking().isEmpty()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the target " + job.subscription().target() + " cannot take what is published:\n  "
                            + String.join(
                                    "\n  ",
                                    comparison.blocking().stream()
                                            .map(SchemaDifference::describe)
                                            .toList()),
                    "On the target:\n" + TargetDdl.mending(comparison));
        }
        comparison
                .warnings()
                .forEach(difference -> job.warnOnce(difference.describe()));
    }

    /// Before anything is created anywhere.
    private void requireEmpty() throws SQLException {
        if (!job.subscription().copy().data() || job.subscription().copy().targetRows() != Subscription.TargetRows.REFUSE) {
            return;
        }
        List<String> filled = new ArrayList<>();
        try (Statement statement = target.createStatement()) {
            for (PublishedTable table : uncopied()) {
                try (ResultSet row = statement.executeQuery("SELECT EXISTS (SELECT FROM " + only(table.name()) + ")")) {
                    row.next();
                    if (row.getBoolean(1)) {
                        filled.add(table.name().toString());
                    }
                }
            }
        }
        if (!filled.isEmpty()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "tables of the target have rows before their first copy: " + String.join(", ", filled),
                    "Empty them, or choose: --target-rows truncate (empty them for me), --target-rows keep (add the"
                            + " source's rows), --copy-data false (they hold the source's rows already).");
        }
    }

    private List<PublishedTable> uncopied() {
        return published.stream().filter(table -> isUncopied(table.name())).toList();
    }

    private boolean isUncopied(TableName table) {
        TableState state = stateOf.get(table);
        return state == null
                || switch (state.state()) {
                    case INIT, COPYING, STOPPED -> true;
                    case COPIED, CATCHUP, READY -> false;
                };
    }

    /// Writes down which tables are followed from now on, and reports those that are not any more.
    ///
    /// @param start what tables that need no copy are applied from
    void store(Lsn start) {
        Set<TableName> names = new HashSet<>(published.stream().map(PublishedTable::name).toList());
        List<TableName> fresh =
                uncopied().stream().map(PublishedTable::name).toList();
        List<TableName> gone = stateOf.entrySet().stream()
                .filter(entry -> entry.getValue().state() != State.STOPPED && !names.contains(entry.getKey()))
                .map(Map.Entry::getKey)
                .toList();
        boolean copy = job.subscription().copy().data();
        try {
            put(fresh, copy ? State.INIT : State.READY, copy ? Lsn.INVALID : start);
            put(gone, State.STOPPED, Lsn.INVALID);
        } catch (SQLException e) {
            throw job.target().errors().translate("storing the state of the tables", e);
        }
        gone.forEach(table -> job.listener()
                .onEvent(new EngineEvent.Warning(
                        "table " + table + " is no longer published: it is not followed any more, its rows are kept")));
    }

    private void put(List<TableName> tables, State state, Lsn copyLsn) throws SQLException {
        if (!tables.isEmpty()) {
            states.put(target, tables, state, copyLsn);
            tables.forEach(table -> stateOf.put(table, new TableState(state, copyLsn)));
        }
    }

    /// The tables that have to be copied now; empty most of the time.
    List<CopyJob> copyJobs() {
        return uncopied().stream().map(this::copyJob).toList();
    }

    private CopyJob copyJob(PublishedTable table) {
        PublishedTable taken = withoutGenerated(table);
        SourceCopyQuery.Format format = SourceCopyQuery.Format.TEXT;
        String columns = taken.columns().isEmpty() ? "" : " (" + Quoting.identifiers(taken.columns()) + ")";
        return new CopyJob(
                table.name(),
                SourceCopyQuery.copyOut(taken, format),
                "COPY " + Quoting.table(table.name()) + columns + " FROM STDIN" + format.options(),
                table.estimatedRows(),
                table.estimatedBytes());
    }

    /// Columns that the target generates itself take no value.
    private PublishedTable withoutGenerated(PublishedTable table) {
        TableSchema there = onTarget.get(table.name());
        if (there == null) {
            throw new IllegalStateException("the structure was not checked");
        }
        List<String> columns = table.columns().stream()
                .filter(name -> !there.column(name).orElseThrow().isGenerated())
                .toList();
        return table.withColumns(columns);
    }

    /// Empties the tables that are about to be copied, if that was wished: all in one statement, since they may refer to
    /// each other.
    void truncateIfWished(List<CopyJob> jobs) {
        if (jobs.isEmpty() || job.subscription().copy().targetRows() != Subscription.TargetRows.TRUNCATE) {
            return;
        }
        String tables = String.join(", ", jobs.stream().map(j -> only(j.table())).toList());
        try (Statement statement = target.createStatement()) {
            statement.execute("TRUNCATE " + tables);
        } catch (SQLException e) {
            throw job.target().errors().translate("emptying tables before their copy", e);
        }
    }

    private String only(TableName table) {
        TableSchema there = onTarget.get(table);
        boolean partitioned = there != null && there.kind() == TableSchema.Kind.PARTITIONED;
        return (partitioned ? "" : "ONLY ") + Quoting.table(table);
    }

    /// What is applied of which table, as of now.
    TableGate gate(Lsn progress) {
        Map<TableName, Lsn> copyLsns = new HashMap<>();
        Set<TableName> notFollowed = new HashSet<>();
        try {
            states.read(target).forEach((table, state) -> {
                switch (state.state()) {
                    case COPIED, CATCHUP, READY -> copyLsns.put(table, state.copyLsn());
                    case INIT, COPYING, STOPPED -> notFollowed.add(table);
                }
            });
        } catch (SQLException e) {
            throw job.target().errors().translate("reading the state of the tables", e);
        }
        return new TableGate(progress, copyLsns, notFollowed);
    }
}
