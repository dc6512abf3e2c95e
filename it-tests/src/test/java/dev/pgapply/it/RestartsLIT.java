package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.decoder.Lsn;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Field cases of group L: positions over restarts of everything.
final class RestartsLIT {

    private static PostgresServer sourceServer;
    private static PostgresServer targetServer;

    @BeforeAll
    static void startServersOfItsOwn() {
        sourceServer = PostgresServer.major(TestServers.NEWEST).start();
        targetServer = PostgresServer.major(TestServers.NEWEST).start();
    }

    @AfterAll
    static void stopThem() {
        sourceServer.close();
        targetServer.close();
    }

    private static Replication replication() {
        return Replication.of(
                new TestServer.Embedded(sourceServer).database(), new TestServer.Embedded(targetServer).database());
    }

    /// B080: the same engine goes on after each end of its servers, violent or not.
    @Test
    void aRunningJobSurvivesCrashesAndRestartsOfBothServers() {
        try (Replication replication = replication()) {
            MixedWorkload workload = MixedWorkload.prepare(replication, 80, 100);
            EngineRun run = replication.engine();
            replication.awaitApplied();
            List<Runnable> ends =
                    List.of(targetServer::kill, sourceServer::kill, targetServer::stopFast, sourceServer::stopFast);
            for (Runnable end : ends) {
                workload.run(20);
                end.run();
                sourceServer.startAgain();
                targetServer.startAgain();
                workload.run(20);
                replication.awaitApplied();
                replication.assertIdentical();
            }
            run.close();
        }
    }

    /// B080: a target that takes no writes any more is no reason to give up.
    @Test
    void aTargetThatBecomesReadOnlyIsTriedUntilItIsWrittenToAgain() throws IOException {
        try (Replication replication = replication()) {
            replication.both("CREATE TABLE log (i int)");
            replication.source().execute("INSERT INTO log VALUES (1)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                targetServer.stopFast();
                Files.createFile(targetServer.dataFolder().resolve("standby.signal"));
                targetServer.startAgain();
                replication.source().execute("INSERT INTO log VALUES (2), (2)");
                Await.until(
                        "the engine has told why it waits",
                        () -> run.events(EngineEvent.Retrying.class).stream()
                                .anyMatch(retry -> retry.reason().code() == ErrorCode.TARGET_FULL
                                        && retry.reason().hint().contains("pg_promote")));
                replication.target().queryAll("SELECT pg_promote()");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// B080: the server process that applies is ended at a moment that nobody chose.
    @Test
    void aTerminatedWritingSessionLosesAndRepeatsNothing() throws InterruptedException {
        try (Replication replication = replication()) {
            MixedWorkload workload = MixedWorkload.prepare(replication, 81, 100);
            EngineRun run = replication.engine();
            replication.awaitApplied();
            workload.during(() -> {
                for (int i = 0; i < 8; i++) {
                    Lsn before = replication.progress();
                    Await.until("it goes on", () -> replication.progress().isAfter(before));
                    Await.until(
                            "the writing session is ended",
                            () -> replication
                                    .target()
                                    .query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                                            + " AND granted AND database = (SELECT oid FROM pg_database"
                                            + " WHERE datname = current_database())")
                                    .equals(Optional.of("t")));
                }
            });
            replication.awaitApplied();
            replication.assertIdentical();
            run.close();
        }
    }

    /// B080: the reply to COMMIT does not arrive, and only the progress tells whether it has happened.
    @Test
    void aLostReplyToCommitIsNoReasonToApplyTwice() {
        try (Replication replication = replication();
                TcpProxy proxy = TcpProxy.before(replication.target())) {
            replication.with(setup -> setup.targetEndpoint = proxy::through);
            replication.both("CREATE TABLE log (i int)", "CREATE TABLE counter (id int PRIMARY KEY, n int)");
            replication.source().execute("INSERT INTO counter VALUES (1, 0)");
            try (EngineRun run = replication.engine()) {
                for (int i = 0; i < 5; i++) {
                    replication.awaitApplied();
                    int number = i;
                    proxy.inject(
                            TcpProxy.Fault.REPLY_LOST,
                            () -> replication
                                    .source()
                                    .transaction(
                                            "INSERT INTO log VALUES (" + number + ")", "UPDATE counter SET n = n + 1"));
                }
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// B082: nothing is written to the target for it but one position now and then.
    @Test
    void aSlotFollowsLogThatHasNothingForIt() {
        try (Replication replication = replication().with(setup -> setup.publications = List.of("wanted"))) {
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE other (v text)");
            source.execute("CREATE PUBLICATION wanted FOR TABLE t", "INSERT INTO t VALUES (1)");
            Lsn progress;
            Lsn end;
            long nanos = System.nanoTime();
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (int i = 0; i < 100; i++) {
                    source.execute("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 20)");
                }
                end = source.flushLsn();
                replication.awaitConfirmed(end);
                progress = replication.progress();
                assertTrue(progress.isBefore(end));
                run.assertRunning();
            }
            long seconds = Duration.ofNanos(System.nanoTime() - nanos).toSeconds();
            long writes = Long.parseLong(replication
                    .target()
                    .query("SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE schemaname = 'pgapply'"
                            + " AND relname = 'subscription'")
                    .orElseThrow());
            assertTrue(writes <= 6 + seconds / 2, () -> writes + " writes in " + seconds + " s");

            // Killed while only the slot and the stored position know how far it was.
            try (Launcher killed = replication.run("--publication", "wanted")) {
                source.execute("INSERT INTO other VALUES ('more')");
                replication.awaitConfirmed(source.flushLsn());
                killed.kill();
            }
            Lsn confirmed = replication.confirmed();
            assertEquals(progress, replication.progress());
            try (EngineRun run = replication.engine()) {
                Await.until(
                        "the source has told its position",
                        () -> !run.events(EngineEvent.SourcePosition.class).isEmpty());
                Lsn first =
                        run.events(EngineEvent.SourcePosition.class).getFirst().lsn();
                assertFalse(first.isBefore(confirmed), "it is read again from " + first + ", not from " + confirmed);
                source.execute("INSERT INTO t VALUES (2)");
                replication.awaitApplied();
                replication.assertIdentical("t");
            }
        }
    }

    /// B083: the source's position is not the target's.
    @Test
    void keepalivesBehindRowsThatWaitMoveNoSlot() throws SQLException {
        try (Replication replication = replication().with(setup -> setup.publications = List.of("wanted"))) {
            TestDatabase source = replication.source();
            replication.both(
                    "CREATE TABLE a (id int PRIMARY KEY)",
                    "CREATE TABLE b (id int PRIMARY KEY)",
                    "CREATE TABLE c (id int)",
                    "CREATE TABLE other (v text)");
            source.execute("CREATE PUBLICATION wanted FOR TABLE a, b, c");
            try (Launcher killed = replication.run("--publication", "wanted");
                    Connection holder = replication.target().connect();
                    Statement lock = holder.createStatement()) {
                replication.awaitApplied();
                holder.setAutoCommit(false);
                lock.execute("LOCK TABLE b IN ACCESS EXCLUSIVE MODE");
                source.execute("INSERT INTO a SELECT generate_series(1, 30)");
                replication.awaitApplied();
                source.execute("INSERT INTO b SELECT generate_series(1, 30)");
                Lsn blocked = source.flushLsn();
                source.execute(
                        "INSERT INTO c SELECT generate_series(1, 30)", "INSERT INTO a SELECT generate_series(31, 40)");
                Lsn rows = source.flushLsn();
                for (int i = 0; i < 20; i++) {
                    source.execute("INSERT INTO other VALUES ('only for keepalives')");
                }
                String received = "SELECT write_lsn > '" + rows + "'::pg_lsn FROM pg_stat_replication WHERE"
                        + " application_name = 'pgapply/" + replication.name() + "' AND write_lsn IS NOT NULL";
                Await.until(
                        "a keepalive with a later position has come",
                        () -> source.query(received).equals(Optional.of("t")));
                killed.kill();
                assertTrue(replication.confirmed().isBefore(blocked), "the slot is ahead of what is applied");
                holder.rollback();
            }
            replication.applyUntilNow();
            replication.assertIdentical("a", "b", "c");
        }
    }

    /// B086: other databases of the cluster are busy, this one is not; then the source shuts down with the
    /// engine connected.
    @Test
    void anIdleSlotFollowsAndTheSourceCanShutDown() {
        try (Replication replication = replication();
                TestDatabase busy = replication.source().server().database()) {
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            source.execute("INSERT INTO t VALUES (1)");
            busy.execute("CREATE TABLE noise (v text)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                String restart = "SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = 'pgapply_"
                        + replication.name() + "'";
                String before = source.query(restart).orElseThrow();
                busy.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 20000)");
                replication.awaitConfirmed(source.flushLsn());
                Await.until("the source need not keep its log", () -> {
                    source.queryAll("SELECT pg_log_standby_snapshot()");
                    return source.query("SELECT (" + restart + ") - '" + before + "'::pg_lsn > 10000000")
                            .equals(Optional.of("t"));
                });
                assertEquals("1", source.query("SELECT count(*) FROM t").orElseThrow());

                sourceServer.stopFast();
                sourceServer.startAgain();
                source.execute("INSERT INTO t VALUES (2)");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
                assertTrue(run.events(EngineEvent.Retrying.class).stream()
                        .allMatch(retry -> retry.reason().code() == ErrorCode.SOURCE_LOST
                                || retry.reason().code() == ErrorCode.SLOT_ACTIVE));
            }
        }
    }
}
