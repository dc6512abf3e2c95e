package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// 011_generated: generated columns on either side, between servers that know stored and virtual ones.
final class Generated011IT {

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest().with(setup -> setup.publications = List.of("none", "stored", "listed"));
        replication
                .source()
                .execute(
                        "CREATE TABLE tab1 (a int PRIMARY KEY, b int GENERATED ALWAYS AS (a * 2) STORED,"
                                + " c int GENERATED ALWAYS AS (a * 3) VIRTUAL)",
                        "INSERT INTO tab1 (a) VALUES (1), (2), (3)",
                        "CREATE TABLE tab2 (a int PRIMARY KEY)",
                        "INSERT INTO tab2 VALUES (1)",
                        "CREATE TABLE to_none (a int, b int GENERATED ALWAYS AS (a * 2) STORED)",
                        "INSERT INTO to_none (a) VALUES (1), (2), (3)",
                        "CREATE TABLE to_stored (a int, b int GENERATED ALWAYS AS (a * 2) STORED)",
                        "INSERT INTO to_stored (a) VALUES (1), (2), (3)",
                        "CREATE TABLE to_listed (a int, gen1 int GENERATED ALWAYS AS (a * 2) STORED)",
                        "INSERT INTO to_listed (a) VALUES (1), (2)",
                        "CREATE TABLE to_one (a int, gen1 int GENERATED ALWAYS AS (a * 2) STORED,"
                                + " gen2 int GENERATED ALWAYS AS (a * 3) STORED)",
                        "INSERT INTO to_one (a) VALUES (1), (2)",
                        "CREATE TABLE both_ways (c1 int PRIMARY KEY, c2 int GENERATED ALWAYS AS (c1 * 2) STORED,"
                                + " c3 int GENERATED ALWAYS AS (c1 * 3) STORED)",
                        "INSERT INTO both_ways VALUES (1)",
                        "CREATE PUBLICATION none FOR TABLE tab1, tab2, to_none, to_listed (gen1)",
                        "CREATE PUBLICATION stored FOR TABLE to_stored, both_ways WITH (publish_generated_columns = stored)",
                        "CREATE PUBLICATION listed FOR TABLE to_one (gen1) WITH (publish_generated_columns = stored)");
        replication
                .target()
                .execute(
                        "CREATE TABLE tab1 (a int PRIMARY KEY, b int GENERATED ALWAYS AS (a * 22) STORED,"
                                + " c int GENERATED ALWAYS AS (a * 33) VIRTUAL, d int)",
                        "CREATE TABLE tab2 (a int PRIMARY KEY, d int, e int GENERATED ALWAYS AS (a * 10) STORED)",
                        "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.d := NEW.a + 10; RETURN NEW; END'",
                        "CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON tab2 FOR EACH ROW EXECUTE FUNCTION fill()",
                        "CREATE TABLE to_none (a int, b int)",
                        "CREATE TABLE to_stored (a int, b int)",
                        "CREATE TABLE to_listed (a int, gen1 int)",
                        "CREATE TABLE to_one (a int, gen1 int, gen2 int)",
                        "CREATE TABLE both_ways (c1 int PRIMARY KEY, c2 int GENERATED ALWAYS AS (c1 + 2) STORED,"
                                + " c3 int GENERATED ALWAYS AS (c1 + 3) STORED)");
        run = replication.engine();
        replication.awaitSeen();
        replication.target().execute("ALTER TABLE tab2 ENABLE REPLICA TRIGGER fill");
    }

    @AfterAll
    static void stop() {
        try {
            run.close();
        } finally {
            replication.close();
        }
    }

    private static void assertTarget(String sql, String... rows) {
        assertEquals(List.of(rows), replication.target().queryAll(sql));
    }

    /// 011_generated: #79
    @Test
    void theTargetsOwnExpressionsWin() {
        String rows = "SELECT concat_ws(' ', a, b, c, d) FROM tab1 ORDER BY a";
        assertTarget(rows, "1 22 33", "2 44 66", "3 66 99");
        replication.source().execute("INSERT INTO tab1 (a) VALUES (4), (5)", "UPDATE tab1 SET a = 6 WHERE a = 5");
        replication.awaitSeen();
        assertTarget(rows, "1 22 33", "2 44 66", "3 66 99", "4 88 132", "6 132 198");
    }

    /// 011_generated: #80
    @Test
    void aTriggerMayFillAnOrdinaryColumnBesideGeneratedOnes() {
        replication.source().execute("INSERT INTO tab2 VALUES (2), (3)", "UPDATE tab2 SET a = 7 WHERE a = 3");
        replication.awaitSeen();
        assertTarget("SELECT concat_ws(' ', a, d, e) FROM tab2 ORDER BY a", "1 10", "2 12 20", "7 17 70");
    }

    /// 011_generated: #81
    @Test
    void generatedColumnsStayAwayUnlessTheyArePublished() {
        replication.source().execute("INSERT INTO to_none (a) VALUES (4), (5)");
        replication.awaitSeen();
        assertTarget("SELECT concat_ws(' ', a, b) FROM to_none ORDER BY a", "1", "2", "3", "4", "5");
    }

    /// 011_generated: #82
    @Test
    void publishedGeneratedColumnsAreCopiedAndFollowed() {
        replication.source().execute("INSERT INTO to_stored (a) VALUES (4), (5)");
        replication.awaitSeen();
        assertTarget("SELECT concat_ws(' ', a, b) FROM to_stored ORDER BY a", "1 2", "2 4", "3 6", "4 8", "5 10");
        replication.assertIdentical("to_stored");
    }

    /// 011_generated: #83
    @Test
    void aColumnListMayNameAGeneratedColumn() {
        replication.source().execute("INSERT INTO to_listed (a) VALUES (3)");
        replication.awaitSeen();
        assertTarget("SELECT concat_ws(' ', coalesce(a, 0), gen1) FROM to_listed ORDER BY gen1", "0 2", "0 4", "0 6");
    }

    /// 011_generated: #84
    @Test
    void aColumnListBeatsTheOption() {
        replication.source().execute("INSERT INTO to_one (a) VALUES (3)");
        replication.awaitSeen();
        assertTarget(
                "SELECT concat_ws(' ', coalesce(a, 0), gen1, gen2) FROM to_one ORDER BY gen1", "0 2", "0 4", "0 6");
    }

    /// 011_generated: #85
    ///
    /// A server's own subscriber refuses such a table; here it is told that the target's expressions win.
    @Test
    void columnsGeneratedOnBothSidesAreReportedAndGeneratedByTheTarget() {
        replication.source().execute("INSERT INTO both_ways VALUES (2)", "UPDATE both_ways SET c1 = 10 WHERE c1 = 1");
        replication.awaitSeen();
        assertTarget("SELECT concat_ws(' ', c1, c2, c3) FROM both_ways ORDER BY c1", "2 4 5", "10 12 13");
        assertTrue(
                run.events(EngineEvent.Warning.class).stream()
                        .anyMatch(warning ->
                                warning.message().contains("public.both_ways of the target generates c2, c3")),
                () -> "" + run.events(EngineEvent.Warning.class));
    }
}
