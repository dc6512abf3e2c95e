package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Field cases of group M: time limits and a network that fails.
final class ConnectionsMIT {

    /// B087: the walsender gives up when it hears nothing for three seconds.
    @Test
    void aBlockedTargetIsNoReasonForTheSourceToGiveUp() throws SQLException {
        try (Replication replication = Replication.newest()) {
            TestDatabase source = replication.source();
            source.execute("ALTER DATABASE " + source.name() + " SET wal_sender_timeout = '3s'");
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
            try (EngineRun run = replication.engine();
                    Connection holder = replication.target().connect();
                    Statement lock = holder.createStatement()) {
                awaitStreaming(run);
                holder.setAutoCommit(false);
                lock.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
                String sender = walsender(replication);
                // More than the queue holds, so that the receiver has to wait for room too.
                source.execute("INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(1, 40000) g");
                String since = source.query("SELECT clock_timestamp()").orElseThrow();
                Await.until(
                        "the source has heard of the engine for seven seconds",
                        () -> source.query("SELECT reply_time > '" + since + "'::timestamptz + interval '7 s'"
                                        + " FROM pg_stat_replication WHERE pid = " + sender)
                                .equals(Optional.of("t")));
                holder.rollback();
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(sender, walsender(replication));
                assertEquals(List.of(), run.events(EngineEvent.Retrying.class));
            }
        }
    }

    private static String walsender(Replication replication) {
        return replication
                .source()
                .query("SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'pgapply_" + replication.name()
                        + "'")
                .orElseThrow();
    }

    /// B089: limits set for the roles would end a copy, a wait for a lock or an idle connection.
    @Test
    void timeLimitsOfTheRolesDoNotHold() throws SQLException {
        // Looks at the publications would keep the source's connection busy.
        try (Replication replication =
                Replication.newest().with(setup -> setup.refreshInterval = Duration.ofMinutes(5))) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
            source.execute("INSERT INTO t SELECT g, 'v' FROM generate_series(1, 40) g");
            target.execute(
                    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                            + " $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$",
                    "CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()",
                    "ALTER TABLE t ENABLE ALWAYS TRIGGER slow");
            limit(source);
            limit(target);
            try (EngineRun run = replication.engine()) {
                awaitStreaming(run);
                replication.awaitApplied();
                target.execute("DROP TRIGGER slow ON t");
                String sender = walsender(replication);
                try (Connection holder = target.connect();
                        Statement lock = holder.createStatement()) {
                    lock.execute("SET idle_in_transaction_session_timeout = 0");
                    lock.execute("SET transaction_timeout = 0");
                    holder.setAutoCommit(false);
                    lock.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
                    source.execute("INSERT INTO t VALUES (100, 'waits')");
                    Await.until(
                            "the writing session has waited for four seconds",
                            () -> waitsLongerThan(target, replication.name(), 4));
                    holder.rollback();
                }
                replication.awaitApplied();
                Await.until(
                        "connections on both sides have been idle for longer than is allowed",
                        () -> isIdleFor(source, replication.name(), 3) && isIdleFor(target, replication.name(), 3));
                source.execute("INSERT INTO t VALUES (101, 'after')");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(sender, walsender(replication));
                assertEquals(List.of(), run.events(EngineEvent.Retrying.class));
                assertEquals(1, run.events(EngineEvent.CopyStarted.class).size(), "the copy was not made in one go");
            }
        }
    }

    private static void limit(TestDatabase database) {
        for (String limit : List.of(
                "idle_session_timeout = '2s'",
                "idle_in_transaction_session_timeout = '2s'",
                "statement_timeout = '2s'",
                "lock_timeout = '1s'",
                "transaction_timeout = '3s'",
                "tcp_user_timeout = '2s'")) {
            database.execute("ALTER ROLE postgres IN DATABASE " + database.name() + " SET " + limit);
        }
    }

    private static boolean waitsLongerThan(TestDatabase target, String name, int seconds) {
        return target.query("SELECT clock_timestamp() - query_start > interval '" + seconds + " s'"
                        + " FROM pg_stat_activity WHERE application_name = 'pgapply/" + name
                        + "' AND wait_event_type = 'Lock'")
                .equals(Optional.of("t"));
    }

    private static boolean isIdleFor(TestDatabase database, String name, int seconds) {
        return database.query("SELECT min(state_change) < clock_timestamp() - interval '" + seconds + " s'"
                        + " FROM pg_stat_activity WHERE application_name = 'pgapply/" + name
                        + "' AND backend_type = 'client backend'")
                .equals(Optional.of("t"));
    }

    /// B088: the source's connections are reset, during the copy and later, or end in the middle of a message.
    @Test
    void aSourceWhoseConnectionsBreakIsReadOn() throws InterruptedException {
        try (Replication replication = Replication.newest();
                TcpProxy proxy = TcpProxy.before(replication.source())) {
            replication.with(setup -> setup.sourceEndpoint = proxy::through);
            MixedWorkload workload = MixedWorkload.prepare(replication, 88, 50_000);
            proxy.resetAfter(2_000_000);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertTrue(run.events(EngineEvent.CopyStarted.class).size() > 1, "the copy was not interrupted");
                workload.during(() -> {
                    for (int i = 0; i < 3; i++) {
                        replication.awaitSeen();
                        proxy.reset();
                        replication.awaitSeen();
                        proxy.inject(TcpProxy.Fault.HALF_THEN_CLOSE, () -> {});
                    }
                });
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// B088: the same on the target's side.
    @Test
    void aTargetWhoseConnectionsBreakIsWrittenOn() throws InterruptedException {
        try (Replication replication = Replication.newest();
                TcpProxy proxy = TcpProxy.before(replication.target())) {
            replication.with(setup -> setup.targetEndpoint = proxy::through);
            MixedWorkload workload = MixedWorkload.prepare(replication, 880, 100);
            try (EngineRun run = replication.engine()) {
                workload.during(() -> {
                    for (int i = 0; i < 3; i++) {
                        replication.awaitSeen();
                        proxy.reset();
                        replication.awaitSeen();
                        proxy.inject(TcpProxy.Fault.REPLY_LOST, () -> {});
                        replication.awaitSeen();
                        proxy.inject(TcpProxy.Fault.HALF_THEN_CLOSE, () -> {});
                    }
                });
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// B088: nobody tells the engine that the source is gone, and the source does not know it of the engine.
    @Test
    void aSilentSourceIsLeftAndItsSlotWaitedFor() {
        try (Replication replication = Replication.newest();
                TcpProxy proxy = TcpProxy.before(replication.source())) {
            replication.with(setup -> setup.sourceEndpoint = proxy::through);
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            try (EngineRun run = replication.engine(event -> {}, Duration.ofSeconds(3))) {
                awaitStreaming(run);
                String stale = walsender(replication);
                proxy.fallSilent();
                Await.until(
                        "the engine has noticed",
                        () -> !run.events(EngineEvent.Retrying.class).isEmpty());
                assertEquals(
                        ErrorCode.SOURCE_LOST,
                        run.events(EngineEvent.Retrying.class)
                                .getFirst()
                                .reason()
                                .code());
                proxy.heal();
                replication.source().execute("INSERT INTO t VALUES (1)");
                Await.until(
                        "the engine is there again",
                        () -> run.events(EngineEvent.Connected.class).size() > 1);
                assertEquals(stale, walsender(replication), "the slot is not active for the old connection");
                replication.source().queryAll("SELECT pg_terminate_backend(" + stale + ")");
                replication.awaitApplied();
                replication.assertIdentical();
            }
        }
    }

    /// What is copied can be confirmed before the stream has begun.
    private static void awaitStreaming(EngineRun run) {
        Await.until(
                "the stream has begun",
                () -> !run.events(EngineEvent.StreamingStarted.class).isEmpty());
    }

    /// B088: a writing session that waits for an answer would wait for ever.
    @Test
    void aSilentTargetIsLeft() {
        try (Replication replication = Replication.newest();
                TcpProxy proxy = TcpProxy.before(replication.target())) {
            replication.with(setup -> setup.targetEndpoint = proxy::through);
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            try (EngineRun run = replication.engine(event -> {}, Duration.ofSeconds(3))) {
                awaitStreaming(run);
                proxy.fallSilent();
                replication.source().execute("INSERT INTO t VALUES (1)");
                Await.until(
                        "the engine has noticed",
                        () -> !run.events(EngineEvent.Retrying.class).isEmpty());
                proxy.heal();
                proxy.reset();
                replication.awaitApplied();
                replication.assertIdentical();
            }
        }
    }

    /// B088: asked to stop, the engine stops, whoever does not answer.
    @Test
    void anEngineCanBeStoppedWhileNobodyAnswers() {
        try (Replication replication = Replication.newest();
                TcpProxy source = TcpProxy.before(replication.source());
                TcpProxy target = TcpProxy.before(replication.target())) {
            replication.with(setup -> {
                setup.sourceEndpoint = source::through;
                setup.targetEndpoint = target::through;
            });
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            EngineRun run = replication.engine();
            awaitStreaming(run);
            source.fallSilent();
            target.fallSilent();
            long start = System.nanoTime();
            run.close();
            Duration taken = Duration.ofNanos(System.nanoTime() - start);
            assertTrue(taken.compareTo(Duration.ofSeconds(15)) < 0, () -> "it took " + taken);
            source.reset();
            target.reset();
        }
    }
}
