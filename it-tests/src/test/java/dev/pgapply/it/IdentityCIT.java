package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Field cases of group C: rows that are hard to find again.
final class IdentityCIT {

    /// B027, B028
    @Test
    void eachChangeTouchesOneOfSeveralEqualRows() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE bag (a int, b text)",
                    "CREATE TABLE je (id int, d json, p point, x xml)",
                    "CREATE TABLE je_keyed (id int PRIMARY KEY, d json)");
            for (String table : List.of("bag", "je", "je_keyed")) {
                replication.source().execute("ALTER TABLE " + table + " REPLICA IDENTITY FULL");
            }
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO bag VALUES (1, NULL), (1, NULL), (1, ''), (1, NULL), (NULL, NULL)",
                                "DELETE FROM bag WHERE ctid = '(0,2)'",
                                "UPDATE bag SET b = 'x' WHERE ctid = '(0,3)'",
                                "UPDATE bag SET b = 'y' WHERE ctid = '(0,1)'",
                                "DELETE FROM bag WHERE a IS NULL",
                                "INSERT INTO je VALUES (1, '{\"a\": 1}', '(1,2)', '<a/>'), (1, '{\"a\":1}', '(1,2)', '<a/>'),"
                                        + " (1, NULL, NULL, NULL), (1, NULL, NULL, NULL)",
                                "UPDATE je SET id = 2 WHERE d::text = '{\"a\":1}'",
                                "DELETE FROM je WHERE id = 1 AND d IS NOT NULL",
                                "DELETE FROM je WHERE ctid = (SELECT max(ctid) FROM je WHERE d IS NULL)",
                                "INSERT INTO je_keyed VALUES (1, '[1, 2]')",
                                "UPDATE je_keyed SET d = '[1,2]'",
                                "UPDATE je_keyed SET id = 2");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(
                        List.of("(1,)", "(1,x)", "(1,y)"), replication.target().rows("bag"));
                assertEquals(2, replication.target().count("je"));
                assertNothingMissed(run);
            }
        }
    }

    /// B030
    @Test
    void updateThatChangesNothingIsNoError() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE no (id uuid PRIMARY KEY, d text)",
                    "CREATE TABLE one (id int PRIMARY KEY)",
                    "CREATE TABLE none (a int)");
            replication
                    .source()
                    .execute("ALTER TABLE no REPLICA IDENTITY FULL", "ALTER TABLE none REPLICA IDENTITY FULL");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO no VALUES (gen_random_uuid(), 'a'), (gen_random_uuid(), NULL)",
                                "UPDATE no SET d = d",
                                "INSERT INTO one VALUES (1)",
                                "UPDATE one SET id = id",
                                "INSERT INTO none VALUES (1), (1), (NULL)",
                                "UPDATE none SET a = a");
                replication.awaitApplied();
                replication.assertIdentical();
                replication.source().execute("DELETE FROM no", "DELETE FROM one", "DELETE FROM none");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(0, replication.target().count("no"));
                assertNothingMissed(run);
            }
        }
    }

    /// B031
    @Test
    void identityMayChangeWhileChangesFlow() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE ri (a int NOT NULL, b int NOT NULL, c text)",
                    "CREATE UNIQUE INDEX ra ON ri (a)",
                    "CREATE UNIQUE INDEX rb ON ri (b)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "ALTER TABLE ri REPLICA IDENTITY USING INDEX ra",
                                "INSERT INTO ri VALUES (1, 10, 'x'), (2, 20, 'y')",
                                "UPDATE ri SET c = 'z' WHERE a = 1",
                                "ALTER TABLE ri REPLICA IDENTITY USING INDEX rb",
                                "UPDATE ri SET a = -a WHERE b = 10",
                                "DELETE FROM ri WHERE a = 2",
                                "ALTER TABLE ri REPLICA IDENTITY FULL",
                                "UPDATE ri SET c = NULL");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of("(-1,10,)"), replication.target().rows("ri"));
                assertNothingMissed(run);
            }
        }
    }

    /// B033
    @Test
    void rowsWithoutIdentityAreNeitherLostNorDoubledByARestart() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE log (i int, t text)", "CREATE TABLE nothing (i int PRIMARY KEY)");
            replication.source().execute("ALTER TABLE nothing REPLICA IDENTITY NOTHING");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO log SELECT g, 'x' FROM generate_series(1, 5) g",
                                "TRUNCATE log",
                                "INSERT INTO log VALUES (9, 'y'), (9, 'y')",
                                "INSERT INTO nothing VALUES (1)");
                replication.awaitApplied();
                run.assertRunning();
            }
            replication.applyUntilNow();
            try (Launcher killed = replication.run()) {
                replication.source().execute("INSERT INTO log VALUES (9, 'y')");
                replication.awaitOnTarget("3", "SELECT count(*) FROM log");
                killed.kill();
            }
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(
                    List.of("(9,y)", "(9,y)", "(9,y)"), replication.target().rows("log"));
        }
    }

    /// B034
    @Test
    void oldRowsHaveTheDefaultOfAColumnThatWasAddedLater() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE ma (a int, b bool NOT NULL DEFAULT true)");
            replication
                    .source()
                    .execute(
                            "DROP TABLE ma",
                            "CREATE TABLE ma (a int)",
                            "INSERT INTO ma VALUES (1), (2)",
                            "ALTER TABLE ma ADD b bool NOT NULL DEFAULT true",
                            "ALTER TABLE ma REPLICA IDENTITY FULL");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.assertIdentical();
                replication.source().execute("UPDATE ma SET a = 10 WHERE a = 1", "DELETE FROM ma WHERE a = 2");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of("(10,t)"), replication.target().rows("ma"));
                assertNothingMissed(run);
            }
        }
    }

    private static void assertNothingMissed(EngineRun run) {
        assertTrue(run.events(EngineEvent.ConflictSkipped.class).isEmpty(), "no row was missed");
        run.assertRunning();
    }
}
