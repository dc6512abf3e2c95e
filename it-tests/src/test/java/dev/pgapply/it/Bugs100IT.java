package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// 100_bugs: what once went wrong in servers, as far as a subscriber is concerned.
final class Bugs100IT {

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest();
        replication.both(
                "CREATE FUNCTION doubled(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'",
                "CREATE TABLE partly_indexed (a int PRIMARY KEY, b int)",
                "CREATE INDEX ON partly_indexed (b) WHERE a > public.doubled(1)",
                "CREATE TABLE two_indexes (a int NOT NULL, b int NOT NULL)",
                "CREATE UNIQUE INDEX two_indexes_a ON two_indexes (a)",
                "CREATE UNIQUE INDEX two_indexes_b ON two_indexes (b)",
                "ALTER TABLE two_indexes REPLICA IDENTITY USING INDEX two_indexes_a",
                "CREATE TABLE dropped_column (gone int, a int, b int)",
                "ALTER TABLE dropped_column REPLICA IDENTITY FULL",
                "CREATE TABLE missing_attribute (a int)",
                "ALTER TABLE missing_attribute REPLICA IDENTITY FULL",
                "CREATE TABLE swallowed (a int PRIMARY KEY)");
        replication
                .source()
                .execute(
                        "INSERT INTO two_indexes VALUES (1, 1), (2, 2)",
                        "INSERT INTO dropped_column VALUES (1, 1, 1), (2, 2, 2)",
                        "INSERT INTO missing_attribute VALUES (1), (2)",
                        "CREATE UNLOGGED TABLE unlogged (a int)");
        replication
                .target()
                .execute(
                        """
                CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    BEGIN
                        RAISE EXCEPTION 'never seen';
                    EXCEPTION WHEN OTHERS THEN
                        NULL;
                    END;
                    RETURN NEW;
                END $$
                """,
                        "CREATE TRIGGER swallow BEFORE INSERT ON swallowed FOR EACH ROW EXECUTE FUNCTION swallow()",
                        "ALTER TABLE swallowed ENABLE ALWAYS TRIGGER swallow");
        run = replication.engine();
        replication.awaitSeen();
    }

    @AfterAll
    static void stop() {
        try {
            run.close();
        } finally {
            replication.close();
        }
    }

    private static void assertArrived(String table) {
        replication.awaitSeen();
        replication.assertIdentical(table);
        run.assertRunning();
    }

    /// 100_bugs: #303
    @Test
    void anIndexWhosePredicateCallsAFunctionTakesRows() {
        replication
                .source()
                .execute("INSERT INTO partly_indexed VALUES (1, 2), (3, 4)", "UPDATE partly_indexed SET b = 5");
        assertArrived("partly_indexed");
    }

    /// 100_bugs: #304
    @Test
    void temporaryAndUnloggedTablesAreNotSent() {
        replication
                .source()
                .execute(
                        "INSERT INTO unlogged VALUES (1)",
                        "UPDATE unlogged SET a = 2",
                        "CREATE TEMPORARY TABLE passing (a int)",
                        "INSERT INTO passing VALUES (1)",
                        "UPDATE passing SET a = 2",
                        "DELETE FROM passing");
        replication.awaitSeen();
        run.assertRunning();
        assertEquals(List.of(), replication.target().queryAll("SELECT 1 FROM pg_class WHERE relname = 'unlogged'"));
    }

    /// 100_bugs: #307
    @Test
    void anotherIdentityIndexHoldsForTheNextChange() {
        replication.both("ALTER TABLE two_indexes REPLICA IDENTITY USING INDEX two_indexes_b");
        replication
                .source()
                .execute("UPDATE two_indexes SET a = -a WHERE a = 1", "DELETE FROM two_indexes WHERE a = 2");
        assertArrived("two_indexes");
        // The other key of the same row.
        replication.source().execute("UPDATE two_indexes SET b = 7, a = 8");
        assertArrived("two_indexes");
    }

    /// 100_bugs: #309
    @Test
    void rowsAreFoundAfterAColumnWasDroppedOnBothSides() {
        replication.both("ALTER TABLE dropped_column DROP COLUMN gone");
        replication
                .source()
                .execute("UPDATE dropped_column SET b = 10 WHERE a = 1", "DELETE FROM dropped_column WHERE a = 2");
        assertArrived("dropped_column");
    }

    /// 100_bugs: #310
    @Test
    void rowsAreFoundAfterAColumnWasAddedWithoutARewrite() {
        replication.target().execute("ALTER TABLE missing_attribute ADD COLUMN b bool DEFAULT false");
        replication
                .source()
                .execute(
                        "ALTER TABLE missing_attribute ADD COLUMN b bool DEFAULT false",
                        "UPDATE missing_attribute SET b = true WHERE a = 2",
                        "UPDATE missing_attribute SET a = a + 1");
        assertArrived("missing_attribute");
        assertEquals(
                List.of("2f", "3t"),
                replication.target().queryAll("SELECT a::text || b::text::char FROM missing_attribute ORDER BY a"));
    }

    /// 100_bugs: #313
    @Test
    void aTriggerThatSwallowsAnErrorDoesNotKeepProgressBack() {
        replication.source().execute("INSERT INTO swallowed VALUES (1)");
        assertArrived("swallowed");
        Lsn before = replication.progress();
        replication.source().execute("INSERT INTO swallowed VALUES (2)");
        assertArrived("swallowed");
        assertTrue(replication.progress().isAfter(before), () -> before + " stays");
        replication.awaitApplied();
    }

    /// 100_bugs: #308
    ///
    /// A server's own subscriber knows the new table only after REFRESH; here it is copied by itself.
    @Test
    void aSchemaRenamedAndMadeAgainInOneTransactionIsFollowedByName() {
        try (Replication own = Replication.newest()) {
            own.source().execute("CREATE SCHEMA sch1", "CREATE TABLE sch1.t1 (c1 int)");
            own.target()
                    .execute(
                            "CREATE SCHEMA sch1",
                            "CREATE TABLE sch1.t1 (c1 int)",
                            "CREATE SCHEMA sch2",
                            "CREATE TABLE sch2.t1 (c1 int)");
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                own.source().execute("INSERT INTO sch1.t1 VALUES (1)");
                own.awaitSeen();
                own.source()
                        .transaction(
                                "ALTER SCHEMA sch1 RENAME TO sch2",
                                "CREATE SCHEMA sch1",
                                "CREATE TABLE sch1.t1 (c1 int)",
                                "INSERT INTO sch1.t1 VALUES (2)",
                                "INSERT INTO sch2.t1 VALUES (3)");
                own.awaitSeen();
                assertEquals(List.of("1", "2"), own.target().queryAll("SELECT c1 FROM sch1.t1 ORDER BY 1"));
                own.assertIdentical("sch2.t1");
                assertEquals(List.of("1", "3"), own.target().queryAll("SELECT c1 FROM sch2.t1 ORDER BY 1"));
                engine.assertRunning();
            }
        }
    }

    /// 100_bugs: #305
    @Test
    void bothDatabasesMayLiveInOneClusterAndBeWrittenDuringTheCopy() {
        TestServer server = TestServers.source(TestServers.NEWEST);
        try (Replication own = Replication.of(server.database(), server.database())) {
            own.both("CREATE TABLE t1 (a int)", "CREATE TABLE t2 (a int)");
            own.source()
                    .execute(
                            "INSERT INTO t1 SELECT generate_series(1, 2000)",
                            "CREATE PUBLICATION p FOR TABLE t1",
                            "INSERT INTO t2 SELECT generate_series(1, 2000)");
            own.with(setup -> setup.publications = List.of("p"));
            try (EngineRun engine = own.engine()) {
                own.source()
                        .execute(
                                "INSERT INTO t1 SELECT generate_series(2001, 4000)",
                                "INSERT INTO t2 SELECT generate_series(2001, 4000)");
                own.awaitSeen();
                own.source()
                        .execute(
                                "ALTER PUBLICATION p ADD TABLE t2",
                                "INSERT INTO t1 SELECT generate_series(4001, 6000)",
                                "INSERT INTO t2 SELECT generate_series(4001, 6000)");
                own.awaitSeen();
                own.assertIdentical();
                assertEquals(6000, own.target().count("t2"));
                engine.assertRunning();
            }
        }
    }

    /// 100_bugs: #306
    @Test
    void copiedRowsGoOnToTheNextSubscriberOfACascade() {
        try (Replication upper = Replication.newest();
                TestDatabase third = TestServers.source(TestServers.NEWEST).database();
                Replication lower = Replication.besides(upper.target(), third)) {
            upper.both("CREATE TABLE t (a int PRIMARY KEY)");
            third.execute("CREATE TABLE t (a int PRIMARY KEY)");
            upper.source().execute("INSERT INTO t VALUES (1), (2)");
            try (EngineRun second = lower.engine()) {
                lower.awaitSeen();
                try (EngineRun first = upper.engine()) {
                    upper.awaitSeen();
                    upper.source().execute("INSERT INTO t VALUES (3)", "UPDATE t SET a = 10 WHERE a = 1");
                    upper.awaitSeen();
                    lower.awaitSeen();
                    lower.assertIdentical("t");
                    Replication.assertIdentical(upper.source(), third, "t");
                    first.assertRunning();
                    second.assertRunning();
                    assertEquals(List.of(), second.events(EngineEvent.Warning.class));
                }
            }
        }
    }

    /// 100_bugs: #315
    @Test
    void aRowFilterThatCannotBeEvaluatedStopsTheRunAndSaysSo() {
        try (Replication own = Replication.newest().with(setup -> setup.publications = List.of("p"))) {
            own.both("CREATE TABLE t (a int PRIMARY KEY, b int)");
            own.source().execute("CREATE PUBLICATION p FOR TABLE t WHERE (a / 0 > 0)");
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                own.source().execute("INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1");
                ApplyException refusal = engine.awaitFailure();
                assertEquals(ErrorCode.SETUP, refusal.code());
                assertTrue(refusal.getMessage().contains("division by zero"), refusal.getMessage());
            }
        }
    }
}
