package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.cli.embedded.ServerException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Field cases, group E: unique keys, order, foreign keys, triggers. One engine serves all of them, each with
/// tables of its own.
final class OrderAndTriggersEIT {

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest().with(setup -> setup.publications = List.of("chosen"));
        replication.both(
                "CREATE TABLE acc (id int PRIMARY KEY, email text UNIQUE)",
                "CREATE TABLE moved (id int PRIMARY KEY, email text UNIQUE)",
                "CREATE TABLE dp (id int PRIMARY KEY DEFERRABLE, v text)",
                "CREATE TABLE pa (id int PRIMARY KEY)",
                "CREATE TABLE ch (id int PRIMARY KEY, n int DEFAULT 0,"
                        + " pid int REFERENCES pa ON DELETE CASCADE ON UPDATE CASCADE)",
                "CREATE TABLE hidden_pa (id int PRIMARY KEY)",
                "CREATE TABLE lone_ch (id int PRIMARY KEY, n int DEFAULT 0,"
                        + " pid int REFERENCES hidden_pa ON DELETE CASCADE ON UPDATE CASCADE)",
                "CREATE TABLE logged (id int PRIMARY KEY)",
                "CREATE TABLE kept (id int PRIMARY KEY)");
        replication.source().execute(foreignKeys("", "DEFERRABLE INITIALLY DEFERRED"));
        replication.target().execute(foreignKeys("", "DEFERRABLE INITIALLY DEFERRED"));
        replication.source().execute(foreignKeys("_strict", "DEFERRABLE INITIALLY DEFERRED"));
        replication.target().execute(foreignKeys("_strict", "NOT DEFERRABLE"));
        replication.target().execute(triggers());
        replication
                .source()
                .execute(
                        "CREATE PUBLICATION chosen FOR TABLE acc, moved, dp, pa, ch, lone_ch, logged, kept, tree, a, b,"
                                + " tree_strict, a_strict, b_strict",
                        "INSERT INTO acc VALUES (1, 'a'), (2, 'b')",
                        "INSERT INTO moved VALUES (1, 'a'), (2, 'b')",
                        "INSERT INTO dp VALUES (1, 's'), (2, 's')",
                        "INSERT INTO hidden_pa VALUES (1), (2)",
                        "INSERT INTO lone_ch VALUES (10, 0, 1), (11, 0, 1), (12, 0, 2)",
                        "INSERT INTO logged VALUES (1)",
                        "INSERT INTO kept VALUES (1), (2), (3)");
        run = replication.engine();
        replication.awaitApplied();
    }

    @AfterAll
    static void stop() {
        run.close();
        replication.close();
    }

    private static String[] foreignKeys(String suffix, String kind) {
        String[] tables = {
            "CREATE TABLE tree# (id int PRIMARY KEY, up int REFERENCES tree# @)",
            "CREATE TABLE a# (id int PRIMARY KEY, b int)",
            "CREATE TABLE b# (id int PRIMARY KEY, a int REFERENCES a# @)",
            "ALTER TABLE a# ADD FOREIGN KEY (b) REFERENCES b# @"
        };
        return java.util.Arrays.stream(tables)
                .map(sql -> sql.replace("#", suffix).replace("@", kind))
                .toArray(String[]::new);
    }

    private static String[] triggers() {
        return new String[] {
            "CREATE TABLE fired (trigger_name text)",
            "CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS"
                    + " 'BEGIN INSERT INTO public.fired VALUES (TG_NAME); RETURN NEW; END'",
            "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER of_origin BEFORE INSERT ON logged FOR EACH ROW EXECUTE FUNCTION log()",
            "CREATE TRIGGER of_replica BEFORE INSERT ON logged FOR EACH ROW EXECUTE FUNCTION log()",
            "CREATE TRIGGER of_both BEFORE INSERT ON logged FOR EACH ROW EXECUTE FUNCTION log()",
            "CREATE TRIGGER refuses BEFORE INSERT ON logged FOR EACH ROW EXECUTE FUNCTION nothing()",
            "ALTER TABLE logged ENABLE REPLICA TRIGGER of_replica, ENABLE ALWAYS TRIGGER of_both",
            "CREATE TRIGGER keeps BEFORE DELETE ON kept FOR EACH ROW EXECUTE FUNCTION nothing()",
            "ALTER TABLE kept ENABLE ALWAYS TRIGGER keeps"
        };
    }

    private static List<EngineEvent.ConflictSkipped> conflictsOf(String table) {
        return run.events(EngineEvent.ConflictSkipped.class).stream()
                .filter(conflict -> conflict.table().name().equals(table))
                .toList();
    }

    /// B041
    @Test
    void aUniqueValueCanBeFreedAndTakenAgainInOneTransaction() {
        replication
                .source()
                .transaction(
                        "DELETE FROM acc WHERE id = 1",
                        "INSERT INTO acc VALUES (3, 'a')",
                        "UPDATE acc SET email = 'tmp' WHERE id = 2",
                        "UPDATE acc SET email = 'b' WHERE id = 3",
                        "UPDATE acc SET email = 'a' WHERE id = 2");
        replication.awaitApplied();
        replication.assertIdentical("acc");
        assertEquals(
                List.of("2 a", "3 b"), replication.target().queryAll("SELECT id || ' ' || email FROM acc ORDER BY id"));
    }

    /// B042
    @Test
    void aKeyCanMoveAwayAndBeUsedAgainInOneTransaction() {
        replication
                .source()
                .transaction(
                        "UPDATE moved SET id = 100 WHERE id = 2",
                        "INSERT INTO moved VALUES (2, 'n')",
                        "DELETE FROM moved WHERE id = 2",
                        "INSERT INTO moved VALUES (2, 'm')",
                        "UPDATE moved SET id = 2000 WHERE id = 100");
        replication.awaitApplied();
        replication.assertIdentical("moved");
        assertEquals(
                List.of("1 a", "2 m", "2000 b"),
                replication.target().queryAll("SELECT id || ' ' || email FROM moved ORDER BY id"));
    }

    /// B043: the key is deferrable on both sides.
    @Test
    void aDeferrableKeyIdentifiesNoRowsAndOneRowIsTouchedPerEvent() {
        assertTrue(run.events(EngineEvent.Warning.class).stream()
                .anyMatch(warning -> warning.message().contains("without a replica identity")
                        && warning.message().contains("ALTER TABLE \"public\".\"dp\" REPLICA IDENTITY FULL;")));
        ServerException refused =
                assertThrows(ServerException.class, () -> replication.source().execute("UPDATE dp SET id = id + 1"));
        assertTrue(refused.getMessage().contains("replica identity"), refused::getMessage);
        replication.source().execute("ALTER TABLE dp REPLICA IDENTITY FULL", "UPDATE dp SET id = id + 1");
        replication.awaitApplied();
        replication.assertIdentical("dp");
        assertEquals(List.of("2 s", "3 s"), replication.target().queryAll("SELECT id || ' ' || v FROM dp ORDER BY id"));
        assertEquals(List.of(), conflictsOf("dp"));
    }

    /// B044: `_strict` tables have foreign keys on the target that cannot be deferred.
    @Test
    void childrenMayComeBeforeTheirParents() {
        for (String suffix : List.of("", "_strict")) {
            replication
                    .source()
                    .transaction(
                            "INSERT INTO tree" + suffix + " VALUES (1, 2), (2, 1)",
                            "INSERT INTO a" + suffix + " VALUES (1, 1)",
                            "INSERT INTO b" + suffix + " VALUES (1, 1)");
            replication.source().execute("""
                    DO $$ BEGIN
                      FOR i IN 10..259 LOOP
                        INSERT INTO a# VALUES (i, NULL); COMMIT;
                        INSERT INTO b# VALUES (i, i); COMMIT;
                        IF i % 10 <> 0 THEN
                          DELETE FROM b# WHERE id = i; COMMIT;
                          DELETE FROM a# WHERE id = i; COMMIT;
                        END IF;
                      END LOOP;
                    END $$""".replace("#", suffix));
        }
        replication.awaitApplied();
        for (String suffix : List.of("", "_strict")) {
            replication.assertIdentical("tree" + suffix, "a" + suffix, "b" + suffix);
            // Made anew, they look at every row.
            replication
                    .target()
                    .execute(
                            "ALTER TABLE tree# ADD CONSTRAINT again FOREIGN KEY (up) REFERENCES tree#"
                                    .replace("#", suffix),
                            "ALTER TABLE b# ADD CONSTRAINT again FOREIGN KEY (a) REFERENCES a#".replace("#", suffix),
                            "ALTER TABLE a# ADD CONSTRAINT again FOREIGN KEY (b) REFERENCES b#".replace("#", suffix));
        }
    }

    /// B045: published are both tables, or the child alone.
    @Test
    void cascadesHappenOnceAndAreNoConflicts() {
        replication
                .source()
                .execute(
                        "INSERT INTO pa VALUES (1), (2)",
                        "INSERT INTO ch (id, pid) VALUES (10, 1), (11, 1), (12, 2)",
                        "UPDATE pa SET id = 5 WHERE id = 1",
                        "UPDATE ch SET n = n + 1",
                        "DELETE FROM pa WHERE id = 5",
                        "UPDATE hidden_pa SET id = 5 WHERE id = 1",
                        "UPDATE lone_ch SET n = n + 1",
                        "DELETE FROM hidden_pa WHERE id = 5");
        replication.awaitApplied();
        replication.assertIdentical("pa", "ch", "lone_ch");
        assertEquals(List.of("12"), replication.target().queryAll("SELECT id FROM ch"));
        assertEquals(List.of("12"), replication.target().queryAll("SELECT id FROM lone_ch"));
        assertEquals(List.of(), conflictsOf("ch"));
        assertEquals(List.of(), conflictsOf("lone_ch"));
    }

    /// B046
    @Test
    void onlyReplicaAndAlwaysTriggersFire() {
        replication.source().execute("INSERT INTO logged VALUES (2)");
        replication.awaitApplied();
        replication.assertIdentical("logged");
        assertEquals(
                List.of("of_both 2", "of_replica 2"),
                replication
                        .target()
                        .queryAll(
                                "SELECT trigger_name || ' ' || count(*) FROM fired GROUP BY trigger_name ORDER BY trigger_name"));
    }

    /// B047
    @Test
    void aRowThatATriggerKeepsIsReportedOnceAndTheStreamGoesOn() {
        replication.source().execute("DELETE FROM kept WHERE id = 1", "INSERT INTO kept VALUES (4)");
        replication.awaitApplied();
        assertEquals(List.of("1", "2", "3", "4"), replication.target().queryAll("SELECT id FROM kept ORDER BY id"));
        assertEquals(1, conflictsOf("kept").size());
        run.assertRunning();
    }

    /// B045: the parent alone is published, and the target's own cascades are wanted.
    @Test
    void theTargetsOwnCascadesFireWhereTriggersAreAllowed() {
        try (Replication own = Replication.newest().with(setup -> {
            setup.publications = List.of("parents");
            setup.allowTriggers = true;
        })) {
            own.both(
                    "CREATE TABLE pa (id int PRIMARY KEY)",
                    "CREATE TABLE ch (id int PRIMARY KEY, pid int REFERENCES pa ON DELETE CASCADE ON UPDATE CASCADE)");
            own.source().execute("CREATE PUBLICATION parents FOR TABLE pa", "INSERT INTO pa VALUES (1), (2)");
            own.applyUntilNow();
            own.target().execute("INSERT INTO ch VALUES (10, 1), (11, 1), (12, 2)");
            own.source().execute("UPDATE pa SET id = 5 WHERE id = 1");
            own.applyUntilNow();
            assertEquals(Optional.of("2"), own.target().query("SELECT count(*) FROM ch WHERE pid = 5"));
            own.source().execute("DELETE FROM pa WHERE id = 5");
            own.applyUntilNow();
            own.assertIdentical("pa");
            assertEquals(List.of("12"), own.target().queryAll("SELECT id FROM ch"));
        }
    }
}
