package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.conflict.ConflictType;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// 001_rep_changes: rows are copied and changes arrive, whatever identifies a row on either side.
final class RepChanges001IT {

    /// What a server with log_replication_commands writes down.
    private static final String STARTED = "received replication command: START_REPLICATION";

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest()
                .with(setup -> setup.publications = List.of("everything", "inserts", "first", "second"));
        replication.both(
                "CREATE TABLE unpublished (a int)",
                "CREATE TABLE ins (a int)",
                "CREATE TABLE keyed (a int PRIMARY KEY)",
                "CREATE TABLE covering (a int, b text, CONSTRAINT covering_pk PRIMARY KEY (a) INCLUDE (b))",
                "CREATE TABLE nothing (a int)",
                "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                "CREATE TABLE indexed (a int)",
                "CREATE INDEX ON indexed (a)",
                "CREATE TABLE empty_rows ()",
                "CREATE TABLE temp1 (a int)",
                "CREATE TABLE temp2 (a int)",
                "CREATE TABLE twice (a int)",
                "ALTER TABLE twice REPLICA IDENTITY FULL",
                "CREATE TABLE words (x text)",
                "ALTER TABLE words REPLICA IDENTITY FULL",
                "CREATE TABLE full_keyed (a int PRIMARY KEY, b text)",
                "ALTER TABLE full_keyed REPLICA IDENTITY FULL",
                "CREATE TABLE large (a int PRIMARY KEY, b text, c numeric)",
                "CREATE TABLE narrow (a int PRIMARY KEY, b text, c numeric)",
                "CREATE TABLE wide (a int PRIMARY KEY, b text)");
        replication
                .source()
                .execute(
                        "CREATE TABLE mixed (a int PRIMARY KEY, b text, c numeric)",
                        "INSERT INTO ins SELECT generate_series(1, 1002)",
                        "INSERT INTO unpublished SELECT generate_series(1, 10)",
                        "INSERT INTO mixed VALUES (1, 'foo', 1.1)",
                        "INSERT INTO empty_rows DEFAULT VALUES",
                        "INSERT INTO twice SELECT generate_series(1, 10) FROM generate_series(1, 2)",
                        "INSERT INTO words VALUES ('a'), ('b'), ('b')",
                        "INSERT INTO narrow VALUES (1, 'kept', 1), (2, 'kept too', 2)",
                        "INSERT INTO wide VALUES (1, 'one')",
                        "CREATE PUBLICATION everything FOR TABLE keyed, covering, nothing, indexed, empty_rows, mixed, twice,"
                                + " words, full_keyed, large, narrow, wide",
                        "CREATE PUBLICATION inserts FOR TABLE ins WITH (publish = 'insert')",
                        "CREATE PUBLICATION first FOR TABLE temp1 WITH (publish = 'insert')",
                        "CREATE PUBLICATION second FOR TABLE temp2");
        replication
                .target()
                .execute("CREATE TABLE mixed (d text DEFAULT 'local', c numeric, b text, a int PRIMARY KEY)");
        run = replication.engine();
        replication.awaitSeen();
        assertEquals(
                "1002", replication.target().query("SELECT count(*) FROM ins").orElseThrow());
    }

    @AfterAll
    static void stop() {
        try {
            run.close();
        } finally {
            replication.close();
        }
    }

    private static void assertOnTarget(String expected, String sql) {
        assertEquals(expected, replication.target().query(sql).orElseThrow(), sql);
    }

    private static List<ConflictType> skipped(String table) {
        return run.events(EngineEvent.ConflictSkipped.class).stream()
                .filter(event -> event.table().name().equals(table))
                .map(EngineEvent.ConflictSkipped::type)
                .toList();
    }

    /// 001_rep_changes: #1
    @Test
    void tablesOutsideThePublicationStayEmpty() {
        replication.source().execute("INSERT INTO unpublished SELECT generate_series(11, 20)");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("unpublished"));
    }

    /// 001_rep_changes: #2, #3
    @Test
    void existingRowsAreCopiedAndAnInsertPublicationSendsNothingElse() {
        replication
                .source()
                .execute(
                        "INSERT INTO ins SELECT generate_series(1, 50)",
                        "DELETE FROM ins WHERE a > 20",
                        "UPDATE ins SET a = -a");
        replication.awaitSeen();
        assertOnTarget("1052 1 1002", "SELECT concat_ws(' ', count(*), min(a), max(a)) FROM ins");
    }

    /// 001_rep_changes: #4, #7
    @Test
    void keysThatChangeInBulkArrive() {
        replication
                .source()
                .execute(
                        "INSERT INTO keyed SELECT generate_series(1, 50)",
                        "DELETE FROM keyed WHERE a > 20",
                        "UPDATE keyed SET a = -a",
                        "INSERT INTO covering SELECT g, 'row ' || g FROM generate_series(1, 50) g",
                        "DELETE FROM covering WHERE a > 20",
                        "UPDATE covering SET a = -a");
        replication.awaitSeen();
        replication.assertIdentical("keyed", "covering");
        assertOnTarget("20 -20 -1", "SELECT concat_ws(' ', count(*), min(a), max(a)) FROM covering");
    }

    /// 001_rep_changes: #5, #16
    @Test
    void columnsLandByNameAndTheTargetsOwnKeepTheirDefault() {
        replication.source().execute("INSERT INTO mixed VALUES (2, 'bar', 2.2)");
        replication.awaitSeen();
        replication.assertIdentical("mixed");
        assertEquals(List.of("local", "local"), replication.target().queryAll("SELECT d FROM mixed ORDER BY a"));
        replication.target().execute("UPDATE mixed SET d = 'by hand' WHERE a = 1");
        replication.source().execute("UPDATE mixed SET b = 'baz' WHERE a = 1");
        replication.awaitSeen();
        replication.assertIdentical("mixed");
        assertEquals(List.of("by hand", "local"), replication.target().queryAll("SELECT d FROM mixed ORDER BY a"));
    }

    /// 001_rep_changes: #6, #8
    @Test
    void insertsNeedNoIdentity() {
        replication
                .source()
                .execute(
                        "INSERT INTO nothing SELECT generate_series(1, 20)",
                        "INSERT INTO indexed VALUES (1), (1), (2)");
        replication.awaitSeen();
        replication.assertIdentical("nothing", "indexed");
    }

    /// 001_rep_changes: #9
    @Test
    void tablesWithoutColumnsAreCopiedAndFollowed() {
        replication.source().execute("INSERT INTO empty_rows DEFAULT VALUES");
        replication.awaitSeen();
        assertEquals(2, replication.target().count("empty_rows"));
    }

    /// 001_rep_changes: #13
    @Test
    void eachPublicationDecidesForItsOwnTables() {
        replication
                .source()
                .execute(
                        "INSERT INTO temp1 VALUES (1)",
                        "TRUNCATE temp1",
                        "INSERT INTO temp2 VALUES (1)",
                        "TRUNCATE temp2");
        replication.awaitSeen();
        assertEquals(1, replication.target().count("temp1"));
        assertEquals(0, replication.target().count("temp2"));
    }

    /// 001_rep_changes: #14, #15
    @Test
    void equalRowsChangeOneByOne() {
        replication.source().execute("UPDATE twice SET a = a * a", "UPDATE words SET x = 'bb' WHERE x = 'b'");
        replication.awaitSeen();
        replication.assertIdentical("twice", "words");
        assertOnTarget("20 1 100", "SELECT concat_ws(' ', count(*), min(a), max(a)) FROM twice");
    }

    /// 001_rep_changes: #17
    @Test
    void wholeOldRowsAreFoundThroughTheTargetsKey() {
        replication.source().execute("INSERT INTO full_keyed SELECT g, 'old' FROM generate_series(1, 10) g");
        replication.awaitSeen();
        // What else has changed on the target plays no part.
        replication.target().execute("UPDATE full_keyed SET b = 'changed by hand' WHERE a = 3");
        replication
                .source()
                .execute("UPDATE full_keyed SET b = 'new' WHERE a <= 5", "DELETE FROM full_keyed WHERE a > 8");
        replication.awaitSeen();
        replication.assertIdentical("full_keyed");
    }

    /// 001_rep_changes: #18, #19, #20
    @Test
    void rowsMissingOnTheTargetAreReportedAndPassedOver() {
        replication.both(
                "CREATE TABLE missing (a int PRIMARY KEY, b text)",
                "CREATE TABLE missing_full (a int)",
                "ALTER TABLE missing_full REPLICA IDENTITY FULL");
        replication
                .source()
                .execute(
                        "INSERT INTO missing VALUES (1, 'x'), (2, 'x'), (3, 'x')",
                        "INSERT INTO missing_full VALUES (25), (26)",
                        "ALTER PUBLICATION everything ADD TABLE missing, missing_full",
                        "INSERT INTO missing VALUES (4, 'x')",
                        "INSERT INTO missing_full VALUES (27)");
        replication.awaitSeen();
        replication.assertIdentical("missing", "missing_full");
        replication.target().execute("DELETE FROM missing WHERE a < 3", "DELETE FROM missing_full WHERE a = 25");
        replication
                .source()
                .execute(
                        "UPDATE missing SET b = 'y' WHERE a = 1",
                        "DELETE FROM missing WHERE a = 2",
                        "UPDATE missing SET b = 'y' WHERE a = 3",
                        "UPDATE missing_full SET a = a + 100");
        replication.awaitSeen();
        assertEquals(List.of(ConflictType.UPDATE_MISSING, ConflictType.DELETE_MISSING), skipped("missing"));
        assertEquals(List.of(ConflictType.UPDATE_MISSING), skipped("missing_full"));
        assertEquals(List.of("3y", "4x"), replication.target().queryAll("SELECT a || b FROM missing ORDER BY a"));
        assertEquals(List.of("126", "127"), replication.target().queryAll("SELECT a FROM missing_full ORDER BY a"));
    }

    /// 001_rep_changes: #21, #22
    @Test
    void largeValuesThatDidNotChangeAreKept() {
        replication
                .source()
                .execute(
                        "INSERT INTO large VALUES (1, 'small', 1), (2, 'small', 2)",
                        "UPDATE large SET b = (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 15625) g) WHERE a = 1");
        replication.awaitSeen();
        assertOnTarget("500000", "SELECT length(b) FROM large WHERE a = 1");
        replication.source().execute("UPDATE large SET c = 3.3 WHERE a = 1");
        replication.awaitSeen();
        replication.assertIdentical("large");
        assertOnTarget("500000 3.3", "SELECT concat_ws(' ', length(b), c) FROM large WHERE a = 1");
    }

    /// 001_rep_changes: #23
    @Test
    void aColumnDroppedAtTheSourceKeepsItsValuesOnTheTarget() {
        replication
                .source()
                .execute(
                        "UPDATE narrow SET b = 'changed', c = 1.5 WHERE a = 1",
                        "ALTER TABLE narrow DROP COLUMN b",
                        "UPDATE narrow SET c = 2.5 WHERE a = 1",
                        "INSERT INTO narrow VALUES (3, 3.5)");
        replication.awaitSeen();
        replication.assertIdentical("narrow");
        assertEquals(
                List.of("changed", "kept too", "NULL"),
                replication.target().queryAll("SELECT b FROM narrow ORDER BY a"));
    }

    /// 001_rep_changes: #24
    @Test
    void columnsOfItsOwnCanComeAndGoOnTheTarget() {
        replication.target().execute("ALTER TABLE wide ADD COLUMN extra int DEFAULT 7");
        replication.source().execute("UPDATE wide SET b = 'two' WHERE a = 1", "INSERT INTO wide VALUES (2, 'new')");
        replication.awaitSeen();
        replication.assertIdentical("wide");
        replication.target().execute("ALTER TABLE wide DROP COLUMN extra");
        replication.source().execute("UPDATE wide SET b = 'three' WHERE a = 1", "INSERT INTO wide VALUES (3, 'newer')");
        replication.awaitSeen();
        replication.assertIdentical("wide");
    }

    /// 001_rep_changes: #30
    @Test
    void transactionsWithNothingPublishedMoveTheConfirmedPosition() {
        replication.source().execute("INSERT INTO unpublished VALUES (30)");
        Lsn end = replication.source().flushLsn();
        replication.awaitConfirmed(end);
        assertEquals(0, replication.target().count("unpublished"));
    }

    /// 001_rep_changes: #11, #12
    ///
    /// A server's own subscriber goes on with a gap when the table comes back; here a person says what becomes
    /// of its rows, and it is copied anew.
    @Test
    void aTableTakenOutOfThePublicationIsLeftAloneUntilItComesBack() {
        try (Replication own = Replication.newest().with(setup -> {
            setup.publications = List.of("p");
            setup.refreshInterval = Duration.ofMillis(100);
        })) {
            own.both("CREATE TABLE ins (a int)", "CREATE TABLE other (a int)");
            own.source().execute("INSERT INTO ins VALUES (1)", "CREATE PUBLICATION p FOR TABLE ins, other");
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                own.source().execute("ALTER PUBLICATION p DROP TABLE ins", "INSERT INTO ins VALUES (8888)");
                own.awaitSeen();
                assertEquals(List.of("1"), own.target().queryAll("SELECT a FROM ins"));
                Await.until(
                        "the table is reported",
                        () -> engine.events(EngineEvent.Warning.class).stream()
                                .anyMatch(warning -> warning.message().contains("public.ins is no longer published")));
                own.source().execute("INSERT INTO other VALUES (1)");
                own.awaitSeen();
                own.assertIdentical("other");
                own.source().execute("ALTER PUBLICATION p ADD TABLE ins", "INSERT INTO ins VALUES (2)");
                ApplyException refusal = engine.awaitFailure();
                assertEquals(ErrorCode.SETUP, refusal.code(), refusal.getMessage());
                assertTrue(refusal.getMessage().contains("public.ins"), refusal.getMessage());
            }
            assertEquals(List.of("1"), own.target().queryAll("SELECT a FROM ins"));
            own.with(setup -> setup.targetRows = Subscription.TargetRows.TRUNCATE);
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                own.assertIdentical();
                own.source().execute("INSERT INTO ins VALUES (3)");
                own.awaitSeen();
                own.assertIdentical();
                engine.assertRunning();
            }
        }
    }

    /// 001_rep_changes: #27, #29
    @Test
    void anotherListOfPublicationsHoldsFromTheNextStart() {
        try (Replication own = Replication.newest().with(setup -> setup.publications = List.of("all_of_it"))) {
            own.both(
                    "CREATE TABLE ins (a int)",
                    "ALTER TABLE ins REPLICA IDENTITY FULL",
                    "CREATE TABLE rep (a int PRIMARY KEY)",
                    "CREATE TABLE added (a int)",
                    "ALTER TABLE added REPLICA IDENTITY FULL");
            own.source()
                    .execute(
                            "INSERT INTO ins SELECT generate_series(1, 1002)",
                            "INSERT INTO rep SELECT generate_series(1, 20)",
                            "INSERT INTO added SELECT generate_series(1, 19)",
                            "CREATE PUBLICATION all_of_it FOR TABLE ins, rep",
                            "CREATE PUBLICATION only_inserts FOR TABLE ins WITH (publish = 'insert')");
            own.applyUntilNow();
            own.target().execute("INSERT INTO ins VALUES (-5)", "INSERT INTO added VALUES (-5)");

            own.with(setup -> {
                setup.publications = List.of("only_inserts");
                setup.copyData = false;
            });
            own.source().execute("INSERT INTO ins SELECT generate_series(1001, 1100)", "DELETE FROM rep");
            own.applyUntilNow();
            assertEquals(1103, own.target().count("ins"));
            assertEquals(20, own.target().count("rep"));

            own.source()
                    .execute(
                            "ALTER PUBLICATION only_inserts SET (publish = 'insert, delete')",
                            "ALTER PUBLICATION only_inserts ADD TABLE added");
            try (EngineRun engine = own.engine()) {
                own.source().execute("INSERT INTO ins VALUES (0)");
                own.awaitSeen();
                own.source().execute("DELETE FROM ins WHERE a > 0", "INSERT INTO added VALUES (0)");
                own.awaitSeen();
                assertEquals(List.of("-5", "0"), own.target().queryAll("SELECT a FROM ins ORDER BY a"));
                // Without a copy it has nothing but what came later and what was there.
                assertEquals(List.of("-5", "0"), own.target().queryAll("SELECT a FROM added ORDER BY a"));
                engine.assertRunning();
            }
        }
    }

    /// 001_rep_changes: #25, #26, #28
    @Test
    void theStreamGoesOnAfterARestartOfTheSourceAndOverAnotherConnectionString() throws IOException {
        try (PostgresServer server = PostgresServer.major(TestServers.NEWEST).start();
                Replication own = Replication.of(
                        new TestServer.Embedded(server).database(),
                        TestServers.target(TestServers.NEWEST).database())) {
            own.both("CREATE TABLE t (a int PRIMARY KEY)");
            own.source().execute("INSERT INTO t VALUES (1)");
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                server.stopFast();
                server.startAgain();
                own.source().execute("INSERT INTO t VALUES (2)");
                own.awaitSeen();
                own.assertIdentical();
                engine.assertRunning();
            }
            own.with(setup -> setup.sourceEndpoint = endpoint -> new PostgresEndpoint(
                    List.of(new PostgresEndpoint.Host(
                            "localhost", endpoint.hosts().getFirst().port())),
                    endpoint.database(),
                    endpoint.user(),
                    endpoint.password(),
                    Map.of("options", "-c log_replication_commands=on")));
            assertFalse(Files.readString(server.logFile()).contains(STARTED));
            try (EngineRun engine = own.engine()) {
                own.source().execute("INSERT INTO t VALUES (3)");
                own.awaitSeen();
                own.assertIdentical();
                engine.assertRunning();
            }
            assertTrue(Files.readString(server.logFile()).contains(STARTED));
        }
    }
}
