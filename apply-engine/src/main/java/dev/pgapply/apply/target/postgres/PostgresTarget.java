package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.apply.target.EarlySession;
import dev.pgapply.apply.target.TargetEngine;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.BinarySafety;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresCatalogReader;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.postgresql.PGConnection;

/// A PostgreSQL target, 10 or newer. One object per engine.
public final class PostgresTarget implements TargetEngine {

    private static final String OBJECT_IN_USE = "55006";
    private static final Duration ORIGIN_PATIENCE = Duration.ofSeconds(10);
    private static final String EARLY_LOCK_PATIENCE = "1s";
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(50);

    private final Subscription subscription;
    private final Duration silence;
    private final PostgresConnector connector;
    private final TargetErrors errors;
    private final InstanceLock lock;
    /// Set by the opening of a session, read by those of the other connections.
    private final AtomicReference<Opened> opened = new AtomicReference<>();

    /// What the writing session knows that others of the instance need.
    ///
    /// @param serverProcess of the writing session
    private record Opened(
            Source source, ProgressStore store, Lsn progress, PreparedTransactions prepared, int serverProcess) {}

    /// @param silence how long the target may owe an answer to a question that waits for no lock
    public PostgresTarget(Subscription subscription, Duration silence) {
        this.subscription = subscription;
        this.silence = silence;
        this.connector = new PostgresConnector(subscription.target(), subscription.applicationName());
        this.errors = new TargetErrors(subscription.target());
        this.lock = new InstanceLock(subscription.name());
    }

    public PostgresConnector connector() {
        return connector;
    }

    public TargetErrors errors() {
        return errors;
    }

    @Override
    public TargetSession openSession(Source source, EngineListener listener) throws InterruptedException {
        try (PipelineSockets sockets = new PipelineSockets(subscription.target().parameters())) {
            PostgresSession session = connector.open(profile(sockets, source));
            try {
                return prepare(session, sockets, source, listener);
            } catch (SQLException e) {
                session.close();
                throw OBJECT_IN_USE.equals(e.getSQLState())
                        ? originInUse(e)
                        : errors.translate("opening the writing session", e);
            } catch (RuntimeException | InterruptedException e) {
                session.close();
                throw e;
            }
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
    }

    /// The lock belongs to one database, the origin to all of a cluster.
    private SetupException originInUse(SQLException e) {
        return new SetupException(
                ErrorCode.INSTANCE_RUNNING,
                "another instance runs subscription " + subscription.name() + " in another database of the target's"
                        + " cluster: " + new ServerWords(e).primary(),
                "Give this job another --name: databases of one cluster share replication origins.",
                e);
    }

    private SessionProfile profile(PipelineSockets sockets, Source source) {
        SessionProfile profile = SessionProfile.TARGET_APPLY
                .with("synchronous_commit", subscription.writer().synchronousCommit() ? "on" : "off")
                // The planner takes full scans for what it knows nothing of; rows are looked up by key here.
                .with("enable_seqscan", "off")
                .with("enable_hashjoin", "off")
                .with("enable_mergejoin", "off");
        if (source.unconverted()) {
            profile = profile.withoutConversion();
        }
        if (subscription.allowTriggers()) {
            profile = profile.withTriggersAllowed();
        }
        for (var property : sockets.properties().entrySet()) {
            profile = profile.withDriverProperty(property.getKey(), property.getValue());
        }
        return profile;
    }

    private TargetSession prepare(
            PostgresSession session, PipelineSockets sockets, Source source, EngineListener listener)
            throws SQLException, InterruptedException {
        Connection connection = session.connection();
        planForAnyValue(session);
        lock.acquire(connection);
        ProgressStore progressStore = openProgress(connection, listener);
        Lsn progress = progressStore.read(connection);
        PreparedTransactions prepared = PreparedTransactions.read(
                connection, subscription.name(), subscription.objectName(), source.systemIdentifier());
        if (!subscription.twoPhase() && !prepared.gids().isEmpty()) {
            throw undecided(prepared);
        }
        opened.set(new Opened(
                source,
                progressStore,
                progress,
                prepared,
                connection.unwrap(PGConnection.class).getBackendPID()));
        return writing(session, sockets, listener);
    }

    private PostgresTargetSession writing(PostgresSession session, PipelineSockets sockets, EngineListener listener)
            throws SQLException {
        Opened main = opened();
        Pipeline pipeline = Pipeline.take(session.connection(), sockets);
        // Tables are looked up in the middle of a round, when the pipeline's connection has replies on their way.
        PostgresSession catalog = connector.open(SessionProfile.TARGET_CONTROL);
        return new PostgresTargetSession(
                session,
                pipeline,
                main.store(),
                main.progress(),
                main.prepared(),
                new TargetTables(
                        pipeline,
                        new PostgresCatalogReader(catalog),
                        acceptance(main.source().version(), session),
                        errors),
                catalog,
                errors,
                listener,
                subscription.allowTriggers());
    }

    private Opened opened() {
        Opened main = opened.get();
        if (main == null) {
            throw new IllegalStateException("no session has been opened");
        }
        return main;
    }

    @Override
    public EarlySession openEarly(int number, EngineListener listener) {
        Opened main = opened();
        try (PipelineSockets sockets = new PipelineSockets(subscription.target().parameters())) {
            PostgresSession session =
                    connector.open(profile(sockets, main.source()).with("lock_timeout", EARLY_LOCK_PATIENCE));
            try {
                planForAnyValue(session);
                ProgressStore.join(main.store(), session.connection(), number);
                if (!lock.join(session.connection(), main.serverProcess())) {
                    throw new SQLException("the instance has lost its lock");
                }
                return new PostgresEarlySession(writing(session, sockets, listener));
            } catch (SQLException e) {
                session.close();
                throw errors.translate("opening a further writing session", e);
            } catch (RuntimeException e) {
                session.close();
                throw e;
            }
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
    }

    private static void planForAnyValue(PostgresSession session) throws SQLException {
        if (session.majorVersion() >= 12) {
            try (Statement statement = session.connection().createStatement()) {
                statement.execute("SET plan_cache_mode = force_generic_plan");
            }
        }
    }

    private SetupException undecided(PreparedTransactions prepared) {
        return new SetupException(
                ErrorCode.SETUP,
                "subscription " + subscription.name() + " has prepared transactions on the target that the source has"
                        + " not decided as far as is known: " + String.join(", ", prepared.gids()),
                "Run it with --two-phase until they are decided: pg_prepared_xacts on both sides shows them.");
    }

    /// A session that ends frees its lock a moment before its origin.
    private ProgressStore openProgress(Connection connection, EngineListener listener)
            throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + ORIGIN_PATIENCE.toNanos();
        while (true) {
            try {
                return ProgressStore.open(
                        connection,
                        subscription.objectName(),
                        subscription.name(),
                        subscription.target().user(),
                        warning -> listener.onEvent(new EngineEvent.Warning(warning)));
            } catch (SQLException e) {
                if (!OBJECT_IN_USE.equals(e.getSQLState()) || System.nanoTime() > deadline) {
                    throw e;
                }
                Thread.sleep(BETWEEN_TRIES);
            }
        }
    }

    /// Asked for binary by name, every value is taken as it comes; the target's receive functions have the last
    /// word.
    private BinaryAcceptance acceptance(int sourceVersion, PostgresSession session) {
        if (subscription.binary() == Subscription.Binary.ON) {
            return (sourceType, target) -> true;
        }
        return new BinarySafety(sourceVersion, session.serverVersion())::isSafe;
    }

    @Override
    public Durability openDurability() {
        try {
            PostgresSession session = connector.open(SessionProfile.TARGET_CONTROL);
            session.connection().setNetworkTimeout(Runnable::run, Math.toIntExact(silence.toMillis()));
            return new PostgresDurability(
                    session, opened().store(), subscription.name(), errors, opened().serverProcess());
        } catch (SQLException e) {
            throw errors.translate("opening the connection for the progress", e);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
    }
}
