package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.schema.postgres.Quoting;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 021_twophase and 023_twophase_stream: what the source prepares is prepared on the target, and ends there as
/// it ends at the source.
final class TwoPhase021IT {

    private static PostgresServer sourceServer;
    private static PostgresServer targetServer;

    @TempDir
    private Path spool;

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

    /// Prepared transactions arrive when they are prepared, or bit by bit before.
    static List<Mode> modes() {
        return Stream.concat(Stream.of(Mode.OFF), SmallDecodingMemory.modes().stream())
                .toList();
    }

    private Replication replication(Mode mode) {
        Replication replication = Replication.of(
                new TestServer.Embedded(sourceServer).database(), new TestServer.Embedded(targetServer).database());
        replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
        return replication.with(setup -> {
            setup.streaming = SmallDecodingMemory.spooling(mode, spool);
            setup.twoPhase = true;
        });
    }

    private static void prepare(Replication replication, String gid, String... statements) {
        prepare(replication.source(), gid, statements);
    }

    static void prepare(TestDatabase source, String gid, String... statements) {
        source.execute(Stream.of(
                        Stream.of("BEGIN"),
                        Stream.of(statements),
                        Stream.of("PREPARE TRANSACTION " + Quoting.literal(gid)))
                .flatMap(all -> all)
                .toArray(String[]::new));
    }

    /// 021_twophase: #139, #141, #142, #147, #148, #149; 023_twophase_stream: #161, #162, #164, #165, #166, #167
    @ParameterizedTest
    @MethodSource("modes")
    void preparedTransactionsEndOnTheTargetAsAtTheSource(Mode mode) {
        try (Replication replication = replication(mode)) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            SmallDecodingMemory memory = SmallDecodingMemory.none(replication);
            prepare(source, "before", "INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 10) g");
            source.execute("COMMIT PREPARED 'before'");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                Await.until(
                        "the stream has asked for it",
                        () -> source.query("SELECT two_phase FROM pg_replication_slots WHERE slot_name = 'pgapply_"
                                        + replication.name() + "'")
                                .equals(Optional.of("t")));
                for (String gid : List.of("plain", "", "it's a \"gid\"", "g".repeat(199), "ü'\\\n%s")) {
                    for (String end : List.of("COMMIT", "ROLLBACK")) {
                        prepare(
                                source,
                                gid,
                                "INSERT INTO t SELECT max(a) + 1, md5('x') FROM t",
                                "SAVEPOINT s",
                                "INSERT INTO t SELECT max(a) + 1, 'rolled back' FROM t",
                                "ROLLBACK TO s",
                                "UPDATE t SET b = 'changed by ' || (SELECT count(*) FROM t) WHERE a % 4 = 0",
                                "DELETE FROM t WHERE a = (SELECT min(a) FROM t)");
                        replication.awaitSeen();
                        assertEquals(1, target.preparedTransactions().size(), gid);
                        source.execute("INSERT INTO t SELECT max(a) + 1000, 'between' FROM t");
                        replication.awaitSeen();
                        assertEquals(1, target.preparedTransactions().size(), gid);
                        source.execute(end + " PREPARED " + Quoting.literal(gid));
                        replication.awaitSeen();
                        assertEquals(List.of(), target.preparedTransactions(), gid);
                        replication.assertIdentical();
                    }
                }
                assertEquals(mode == Mode.OFF, memory.streamed() == 0);
                for (String end : List.of("COMMIT", "ROLLBACK")) {
                    prepare(source, "lock", "SELECT FROM t ORDER BY a LIMIT 1 FOR UPDATE");
                    replication.awaitSeen();
                    source.execute(end + " PREPARED 'lock'");
                    source.execute("INSERT INTO t SELECT max(a) + 1, 'after' FROM t");
                    replication.awaitSeen();
                    replication.assertIdentical();
                }
                assertEquals(List.of(), target.preparedTransactions());
                assertEquals(
                        "0",
                        target.query("SELECT count(*) FROM pgapply.prepared").orElseThrow());
                replication.awaitApplied();
                run.assertRunning();
            }
        }
    }

    /// 021_twophase: #143, #144, #145, #146; 023_twophase_stream: #163
    @ParameterizedTest
    @MethodSource("modes")
    void preparedTransactionsOutliveTheServers(Mode mode) {
        try (Replication replication = replication(mode)) {
            TestDatabase source = replication.source();
            SmallDecodingMemory.none(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                List<Runnable> kills = List.of(
                        () -> {
                            sourceServer.kill();
                            targetServer.kill();
                        },
                        targetServer::kill,
                        sourceServer::kill);
                for (Runnable kill : kills) {
                    prepare(source, "stays", "INSERT INTO t SELECT count(*), md5('x') FROM t");
                    prepare(source, "goes", "INSERT INTO t SELECT count(*) + 1000, md5('x') FROM t");
                    replication.awaitSeen();
                    assertEquals(2, replication.target().preparedTransactions().size());
                    kill.run();
                    targetServer.startAgain();
                    sourceServer.startAgain();
                    assertEquals(2, replication.target().preparedTransactions().size());
                    source.execute("COMMIT PREPARED 'stays'", "ROLLBACK PREPARED 'goes'");
                    replication.awaitApplied();
                    assertEquals(List.of(), replication.target().preparedTransactions());
                    replication.assertIdentical();
                }
                run.assertRunning();
            }
        }
    }

    /// 021_twophase: #140; 023_twophase_stream: #168
    @Test
    void aTargetThatCannotPrepareIsNamedWithWhatItNeeds() {
        try (Replication replication = replication(Mode.ON)) {
            targetServer.set("max_prepared_transactions", "0");
            targetServer.restart();
            ApplyException failure;
            try (EngineRun run = replication.engine()) {
                failure = run.awaitFailure();
            } finally {
                targetServer.set("max_prepared_transactions", "20");
                targetServer.restart();
            }
            assertEquals(ErrorCode.SETUP, failure.code());
            assertTrue(failure.hint().contains("ALTER SYSTEM SET max_prepared_transactions"), failure::hint);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "now", "INSERT INTO t VALUES (1, 'x')");
                replication.awaitSeen();
                assertEquals(1, replication.target().preparedTransactions().size());
                replication.source().execute("COMMIT PREPARED 'now'");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// 021_twophase: #150
    @Test
    void subscriptionsOfOneSourceIntoOneTargetDoNotCollide() {
        try (Replication first = replication(Mode.OFF);
                Replication second = Replication.besides(first.source(), first.target())) {
            TestDatabase source = first.source();
            first.both("CREATE TABLE other (a int PRIMARY KEY)");
            source.execute("CREATE PUBLICATION p FOR TABLE t", "CREATE PUBLICATION q FOR TABLE other");
            source.execute("INSERT INTO other VALUES (88)");
            first.target().execute("INSERT INTO other VALUES (88)");
            first.with(setup -> setup.publications = List.of("p"));
            second.with(setup -> {
                setup.publications = List.of("q");
                setup.copyData = false;
                setup.twoPhase = true;
            });
            try (EngineRun run = first.engine();
                    EngineRun other = second.engine()) {
                first.awaitApplied();
                second.awaitApplied();
                for (String end : List.of("ROLLBACK", "COMMIT")) {
                    prepare(source, "both", "INSERT INTO t VALUES (99)", "INSERT INTO other VALUES (99)");
                    first.awaitSeen();
                    second.awaitSeen();
                    assertEquals(2, first.target().preparedTransactions().size());
                    source.execute(end + " PREPARED 'both'");
                    first.awaitSeen();
                    second.awaitSeen();
                    assertEquals(List.of(), first.target().preparedTransactions());
                    first.assertIdentical();
                }
                assertEquals(2, first.target().count("other"));
                run.assertRunning();
                other.assertRunning();
            }
        }
    }

    /// 021_twophase: #151, #152, #153
    @Test
    void twoPhaseIsSwitchedOffAndOnBetweenRuns() {
        try (Replication replication = replication(Mode.OFF)) {
            TestDatabase source = replication.source();
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "pending", "INSERT INTO t VALUES (1, 'a')");
                replication.awaitSeen();
                run.assertRunning();
            }
            String gid = replication.target().preparedTransactions().getFirst();

            replication.with(setup -> setup.twoPhase = false);
            try (EngineRun run = replication.engine()) {
                ApplyException failure = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, failure.code());
                assertTrue(String.valueOf(failure.getMessage()).contains(gid), failure::getMessage);
                assertTrue(failure.hint().contains("--two-phase"), failure::hint);
            }
            replication.with(setup -> setup.twoPhase = true);
            source.execute("COMMIT PREPARED 'pending'");
            replication.applyUntilNow();
            replication.assertIdentical();

            replication.with(setup -> setup.twoPhase = false);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "late", "INSERT INTO t VALUES (2, 'b')");
                prepare(replication, "never", "INSERT INTO t VALUES (3, 'c')");
                source.execute("INSERT INTO t VALUES (4, 'd')");
                replication.awaitSeen();
                assertEquals(List.of(), replication.target().preparedTransactions());
                assertEquals(2, replication.target().count("t"));
                run.assertRunning();
            }
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                source.execute("ROLLBACK PREPARED 'never'");
                prepare(replication, "on", "INSERT INTO t VALUES (5, 'e')");
                replication.awaitSeen();
                run.assertRunning();
            }
            replication.with(setup -> setup.twoPhase = true);
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                source.execute("COMMIT PREPARED 'late'");
                replication.awaitSeen();
                replication.assertIdentical();
                source.execute("COMMIT PREPARED 'on'");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(4, replication.target().count("t"));
                run.assertRunning();
            }
        }
    }
}
