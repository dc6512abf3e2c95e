package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.ReplicationConnection;
import dev.pgapply.apply.source.ReplicationStream;
import dev.pgapply.apply.source.StreamOptions;
import dev.pgapply.apply.tablesync.ControlTables;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.apply.target.TargetEngine;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.ControlSchema;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Publications;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SourceFacts;
import dev.pgapply.schema.postgres.SourceServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// One attempt, from connecting to the end of the stream: everything it opens goes with it.
final class Attempt implements AutoCloseable {

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    private static final String HEARTBEAT_PREFIX = "pgapply";

    private final Job job;
    private final Subscription subscription;

    /// What has to be broken to end a wait: pushed by the running thread, broken by the one that stops.
    private final Deque<Runnable> breakers = new ArrayDeque<>();

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private volatile boolean streaming;
    private boolean aborted;

    Attempt(Job job) {
        this.job = job;
        this.subscription = job.subscription();
    }

    Applier.End run() throws InterruptedException {
        PostgresSession source =
                openControl(job.source(), SessionProfile.SOURCE_CONTROL, job.sourceErrors()::translate);
        SourceServer server = new SourceServer(source);
        SourceFacts facts = asking(server::facts);
        requireDecoding(facts);
        Lsn until = job.until(facts.flushPosition());
        List<PublishedTable> published = asking(() -> published(new Publications(source)));

        PostgresSession target = openControl(
                job.target().connector(),
                SessionProfile.TARGET_CONTROL,
                job.target().errors()::translate);
        if (subscription.twoPhase()) {
            LargeTransactions.requireTwoPhase(source.majorVersion(), asking(() -> maxPreparedTransactions(target)));
        }
        migrate();
        DataSessions sessions = DataSessions.between(source, target, subscription.allowTriggers());
        TargetSession session = job.target()
                .openSession(
                        new TargetEngine.Source(
                                source.serverVersion(), facts.systemIdentifier(), sessions.unconverted()),
                        job.listener());
        own(session, session::abort);
        job.backoff().connected();
        job.listener().onEvent(new EngineEvent.Connected(source.serverVersion(), target.serverVersion()));

        ControlTables control =
                new ControlTables(target, subscription.name(), job.target().errors());
        FollowedTables tables = asking(() -> FollowedTables.compare(job, published, source, target, control));
        // Before anything is copied for nothing.
        awaitFreeSlot(server);
        Lsn progress = new Start(this, job, source, control, session, sessions).begin(facts, tables);
        PublicationWatch watch = new PublicationWatch(
                () -> asking(() -> published(new Publications(source))),
                source::abort,
                published,
                subscription.refreshInterval(),
                subscription
                        .heartbeat()
                        .map(every -> new PublicationWatch.Heartbeat(
                                every,
                                () -> asking(() -> {
                                    server.emitMessage(HEARTBEAT_PREFIX);
                                    return every;
                                }))));
        try {
            return stream(source, server, session, tables, sessions, watch, new Range(progress, until));
        } catch (SchemaMismatch e) {
            throw withStatement(e, source, target);
        }
    }

    /// Adds the SQL that mends a mismatch, from what both sides look like now.
    private SchemaMismatch withStatement(SchemaMismatch mismatch, PostgresSession source, PostgresSession target) {
        try {
            List<PublishedTable> concerned = published(new Publications(source)).stream()
                    .filter(table -> mismatch.table().equals(Optional.of(table.name())))
                    .toList();
            String statements = FollowedTables.mending(job, concerned, source, target);
            return statements.isEmpty()
                    ? mismatch
                    : new SchemaMismatch(
                            String.valueOf(mismatch.getMessage()),
                            "On the target:\n" + statements
                                    + "\nThen start the run again: it goes on with this transaction.",
                            mismatch.table().orElse(null),
                            mismatch.lsn().orElse(null));
        } catch (SchemaException e) {
            // Then the hint that it has must do.
            return mismatch;
        }
    }

    private static int maxPreparedTransactions(PostgresSession target) {
        return Integer.parseInt(target.setting("max_prepared_transactions"));
    }

    private static void requireDecoding(SourceFacts facts) {
        if (!facts.decodesLogically()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the source's wal_level is " + facts.walLevel() + ", logical replication needs logical",
                    "On the source: ALTER SYSTEM SET wal_level = logical; and restart it.");
        }
        if (!facts.mayReplicate()) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the source's role " + facts.role() + " may not replicate",
                    "On the source: ALTER ROLE " + Quoting.identifier(facts.role()) + " REPLICATION;");
        }
    }

    private List<PublishedTable> published(Publications publications) {
        String own = subscription.objectName();
        if (subscription.publications().isEmpty() && !publications.all().containsKey(own)) {
            publications.createForAllTables(own, false);
        }
        return publications.publishedTables(job.publications());
    }

    private <T> T asking(Supplier<T> question) {
        try {
            return question.get();
        } catch (SchemaException e) {
            throw job.sourceErrors().translate(e);
        }
    }

    private PostgresSession openControl(
            PostgresConnector connector,
            SessionProfile profile,
            Function<SchemaException, ApplyException> translation) {
        try {
            PostgresSession session = connector.open(profile);
            own(session, session::abort);
            return session;
        } catch (SchemaException e) {
            throw translation.apply(e);
        }
    }

    private void migrate() {
        try {
            ControlSchema.migrate(job.target().connector());
        } catch (SchemaException e) {
            throw job.target().errors().translate(e);
        }
    }

    /// @param until `0/0` for ever
    private record Range(Lsn from, Lsn until) {}

    private Applier.End stream(
            PostgresSession source,
            SourceServer server,
            TargetSession session,
            FollowedTables tables,
            DataSessions sessions,
            PublicationWatch watch,
            Range range)
            throws InterruptedException {
        Durability durability = job.target().openDurability();
        own(durability, durability::abort);
        awaitFreeSlot(server);
        TableGate gate = tables.gate(range.from());
        LargeTransactions large = LargeTransactions.plan(
                job, source.majorVersion(), asking(() -> server.slot(subscription.slotName())), gate, range.from());
        ReplicationConnection replication = openReplication(sessions);
        StreamOptions options = new StreamOptions(
                source.majorVersion(),
                job.publications(),
                tables.streamsBinary(),
                subscription.origin() == Subscription.Origin.NONE,
                large.mode(),
                subscription.twoPhase());
        ReplicationStream stream = replication.start(subscription.slotName(), large.start(), options);
        job.listener().onEvent(new EngineEvent.StreamingStarted(range.from()));
        job.backoff().streamed();
        Streaming flow = new Streaming(stream, session, durability, range.from(), large, job.listener(), job.silence());
        streaming = true;
        try (EarlyTransactions early =
                new EarlyTransactions(job.target()::openEarly, gate, subscription.writer(), job.listener())) {
            breaker(early::abort);
            Applier.End end = flow.run(gate, early, subscription.writer(), range.until(), watch, job::stopping);
            job.met(gate.unknown());
            return end;
        }
    }

    /// A walsender of our own that has not noticed its client's end yet keeps the slot for a while.
    private void awaitFreeSlot(SourceServer server) throws InterruptedException {
        long deadline = System.nanoTime() + subscription.slotWait().toNanos();
        while (true) {
            Optional<SlotFacts> slot = asking(() -> server.slot(subscription.slotName()));
            if (slot.isEmpty()
                    || slot.get().activePid().isEmpty()
                    || !slot.get().isPgoutput()) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new SourceLost(
                        ErrorCode.SLOT_ACTIVE,
                        "slot " + subscription.slotName() + " is active for server process "
                                + slot.get().activePid().getAsInt() + " on the source"
                                + slot.get()
                                        .activeApplication()
                                        .map(name -> " (" + name + ")")
                                        .orElse(""),
                        "Stop what reads it (SELECT pg_terminate_backend("
                                + slot.get().activePid().getAsInt() + ");), or wait longer with --slot-wait.",
                        null);
            }
            if (job.stopping()) {
                return;
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
    }

    ReplicationConnection openReplication(DataSessions sessions) {
        ReplicationConnection replication =
                ReplicationConnection.open(job.source(), sessions.sourceReplication(), job.sourceErrors());
        own(replication, replication::abort);
        return replication;
    }

    private void own(AutoCloseable resource, Runnable breaker) {
        opened.push(resource);
        breaker(breaker);
    }

    /// Has the wait broken when the attempt is.
    void breaker(Runnable breaker) {
        synchronized (breakers) {
            if (aborted) {
                breaker.run();
            }
            breakers.push(breaker);
        }
    }

    /// Asks the attempt to end: a stream finishes its group, everything else is broken off.
    void stop() {
        if (!streaming) {
            abort();
        }
    }

    /// Breaks every connection; whoever waits in one fails. From any thread.
    void abort() {
        synchronized (breakers) {
            aborted = true;
            breakers.forEach(Runnable::run);
        }
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            closeQuietly(opened.pop());
        }
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // What is broken is closed; what mattered was committed before.
        }
    }
}
