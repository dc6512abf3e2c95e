package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.tablesync.ControlTables;
import dev.pgapply.apply.tablesync.CopyJob;
import dev.pgapply.apply.tablesync.CopyOrigin;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.BinarySafety;
import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaComparison;
import dev.pgapply.schema.SchemaDifference;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresCatalogReader;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SourceCopyQuery;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import dev.pgapply.schema.postgres.TablePrivileges;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import dev.pgapply.schema.postgres.TargetDdl;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// Which tables are followed: what the publications offer, and how far each has come on the target. One per
/// attempt, on the running thread.
final class FollowedTables {

    private static final int FIRST_BINARY_STREAM = 140_000;

    private final Job job;
    private final BinarySafety binary;
    private final ControlTables control;
    private final List<PublishedTable> published;
    private final Map<TableName, TableSchema> onSource;
    private final Map<TableName, TableSchema> onTarget;
    private final Map<TableName, TableState> stateOf;

    private FollowedTables(
            Job job,
            BinarySafety binary,
            ControlTables control,
            List<PublishedTable> published,
            Map<TableName, TableSchema> onSource,
            Map<TableName, TableSchema> onTarget,
            Map<TableName, TableState> stateOf) {
        this.job = job;
        this.binary = binary;
        this.control = control;
        this.published = published;
        this.onSource = onSource;
        this.onTarget = onTarget;
        this.stateOf = stateOf;
    }

    /// Compares what is published with what is known, and checks that the target can take it. Writes nothing.
    ///
    /// @throws SetupException listing everything that is missing
    static FollowedTables compare(
            Job job,
            List<PublishedTable> published,
            PostgresSession source,
            PostgresSession target,
            ControlTables control) {
        List<TableName> names = published.stream().map(PublishedTable::name).toList();
        FollowedTables tables = new FollowedTables(
                job,
                new BinarySafety(source.serverVersion(), target.serverVersion()),
                control,
                published,
                new PostgresCatalogReader(source).tables(names),
                onTarget(job, target, names),
                new HashMap<>(control.states()));
        tables.requireStructure();
        tables.warnOfMissingIdentity();
        tables.requirePrivileges("source", source, job.subscription().source().user(), "SELECT");
        tables.requirePrivileges("target", target, job.subscription().target().user(), "SELECT", "INSERT");
        tables.requireEmpty();
        return tables;
    }

    private static Map<TableName, TableSchema> onTarget(Job job, PostgresSession target, List<TableName> names) {
        try {
            return new PostgresCatalogReader(target).tables(names);
        } catch (SchemaException e) {
            throw job.target().errors().translate(e);
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
                    hint(TargetDdl.mending(
                            comparison, job.subscription().target().user())));
        }
        comparison.warnings().forEach(difference -> job.warnOnce(difference.describe()));
    }

    /// As soon as a table is published, its source refuses what it could not log.
    private void warnOfMissingIdentity() {
        List<PublishedTable> lacking =
                published.stream().filter(PublishedTable::lacksIdentity).toList();
        if (!lacking.isEmpty()) {
            job.warnOnce("the source refuses UPDATE and DELETE of tables without a replica identity (a key that is"
                    + " deferrable is none): "
                    + lacking.stream().map(table -> table.name().toString()).collect(Collectors.joining(", "))
                    + "; on the source: ALTER TABLE "
                    + Quoting.table(lacking.getFirst().name())
                    + " REPLICA IDENTITY FULL; or a primary key");
        }
    }

    /// What the copy needs, before a slot is made that would stay behind.
    private void requirePrivileges(String side, PostgresSession session, String role, String... privileges) {
        if (!job.subscription().copy().data()) {
            return;
        }
        List<TableName> tables = uncopied().stream().map(PublishedTable::name).toList();
        List<TableName> lacking = new TablePrivileges(session).lacking(tables, privileges);
        if (!lacking.isEmpty()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the " + side + "'s role " + role + " needs " + String.join(", ", privileges) + " on tables "
                            + lacking.stream().map(TableName::toString).collect(Collectors.joining(", ")),
                    "On the " + side + " (docs/privileges.md has all of it):\n"
                            + TablePrivileges.grants(lacking, role, privileges));
        }
    }

    private static String hint(String statements) {
        return statements.isEmpty()
                ? "Change the target, or leave these tables out of the publication."
                : "On the target:\n" + statements;
    }

    /// SQL that makes the target fit what is published now; empty where nothing differs or SQL cannot help.
    static String mending(Job job, List<PublishedTable> published, PostgresSession source, PostgresSession target) {
        List<TableName> names = published.stream().map(PublishedTable::name).toList();
        SchemaComparison comparison = SchemaComparison.of(
                published,
                new PostgresCatalogReader(source).tables(names),
                new PostgresCatalogReader(target).tables(names));
        return TargetDdl.mending(comparison, job.subscription().target().user());
    }

    /// Before anything is created anywhere.
    private void requireEmpty() {
        Subscription.Copy copy = job.subscription().copy();
        if (!copy.data() || copy.targetRows() != Subscription.TargetRows.REFUSE) {
            return;
        }
        List<TableName> filled = control.filled(
                uncopied().stream().map(table -> there(table.name())).toList());
        if (!filled.isEmpty()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "tables of the target have rows before their first copy: "
                            + filled.stream().map(TableName::toString).collect(Collectors.joining(", ")),
                    "Empty them, or choose: --target-rows truncate (empty them for me), --target-rows keep (add the"
                            + " source's rows), --copy-data false (they hold the source's rows already).");
        }
    }

    private TableSchema there(TableName name) {
        TableSchema there = onTarget.get(name);
        if (there == null) {
            throw new IllegalStateException("the structure was not checked");
        }
        return there;
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
        Set<TableName> names =
                new HashSet<>(published.stream().map(PublishedTable::name).toList());
        List<TableName> fresh = uncopied().stream().map(PublishedTable::name).toList();
        List<TableName> gone = stateOf.entrySet().stream()
                .filter(entry -> entry.getValue().state() != State.STOPPED && !names.contains(entry.getKey()))
                .map(Map.Entry::getKey)
                .toList();
        boolean copy = job.subscription().copy().data();
        put(fresh, copy ? State.INIT : State.READY, copy ? Lsn.INVALID : start);
        put(gone, State.STOPPED, Lsn.INVALID);
        gone.forEach(table -> job.listener()
                .onEvent(new EngineEvent.Warning(
                        "table " + table + " is no longer published: it is not followed any more, its rows are kept")));
    }

    private void put(List<TableName> tables, State state, Lsn copyLsn) {
        if (!tables.isEmpty()) {
            control.put(tables, state, copyLsn);
            stateOf.putAll(control.states());
        }
    }

    /// The tables that have to be copied now; empty most of the time.
    List<CopyJob> copyJobs() {
        return uncopied().stream().map(this::copyJob).toList();
    }

    private CopyJob copyJob(PublishedTable table) {
        PublishedTable taken = withoutGenerated(table);
        SourceCopyQuery.Format format =
                copiesBinary(taken) ? SourceCopyQuery.Format.BINARY : SourceCopyQuery.Format.TEXT;
        String columns = taken.columns().isEmpty() ? "" : " (" + Quoting.identifiers(taken.columns()) + ")";
        return new CopyJob(
                table.name(),
                table.kind() == TableSchema.Kind.PARTITIONED,
                SourceCopyQuery.copyOut(taken, format),
                "COPY " + Quoting.table(table.name()) + columns + " FROM STDIN" + format.options(),
                table.estimatedRows(),
                table.estimatedBytes());
    }

    private boolean copiesBinary(PublishedTable table) {
        return switch (job.subscription().binary()) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> isSafe(table);
        };
    }

    /// The format belongs to the whole stream: binary only if it suits every table. An older source knows text
    /// only.
    boolean streamsBinary() {
        return binary.sourceVersion() >= FIRST_BINARY_STREAM
                && switch (job.subscription().binary()) {
                    case ON -> true;
                    case OFF -> false;
                    case AUTO ->
                        !job.textOnly()
                                && published.stream()
                                        .map(this::withoutGenerated)
                                        .allMatch(this::isSafe);
                };
    }

    private boolean isSafe(PublishedTable table) {
        TableSchema from = onSource.get(table.name());
        TableSchema to = onTarget.get(table.name());
        return from != null && to != null && binary.isSafe(from, to, table.columns());
    }

    /// Columns that the target generates itself take no value.
    private PublishedTable withoutGenerated(PublishedTable table) {
        TableSchema there = there(table.name());
        List<String> columns = table.columns().stream()
                .filter(name -> !there.column(name).orElseThrow().isGenerated())
                .toList();
        return table.withColumns(columns);
    }

    /// Empties the tables that are about to be copied, if that was wished.
    void truncateIfWished(List<CopyJob> jobs, CopyOrigin origin) {
        if (!jobs.isEmpty() && job.subscription().copy().targetRows() == Subscription.TargetRows.TRUNCATE) {
            control.truncate(jobs.stream().map(j -> there(j.table())).toList(), origin);
        }
    }

    /// What is applied of which table, as of now.
    TableGate gate(Lsn progress) {
        Map<TableName, Lsn> copyLsns = new HashMap<>();
        Set<TableName> notFollowed = new HashSet<>();
        control.states().forEach((table, state) -> {
            switch (state.state()) {
                case COPIED, CATCHUP, READY -> copyLsns.put(table, state.copyLsn());
                case INIT, COPYING, STOPPED -> notFollowed.add(table);
            }
        });
        job.met().stream().filter(table -> !copyLsns.containsKey(table)).forEach(notFollowed::add);
        Lsn confirmed = control.slot().map(SubscriptionRecord::confirmed).orElse(progress);
        return new TableGate(progress, confirmed.max(progress), copyLsns, notFollowed);
    }
}
