package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Field cases of group I: what is published changes in mid-stream.
final class PublicationChangesIIT {

    /// B063
    @ParameterizedTest
    @ValueSource(ints = {13, 15, 18})
    void rowsOfATransactionThatWasOpenWhenItsTableJoinedArriveOnce(int sourceMajor) throws SQLException {
        try (Replication replication = Replication.between(sourceMajor, TestServers.NEWEST)) {
            replication.both("CREATE TABLE pa (i int)", "CREATE TABLE pb (i int)");
            replication.source().execute("CREATE PUBLICATION p FOR TABLE pa");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine();
                    Connection open = replication.source().connect();
                    Statement statement = open.createStatement()) {
                replication.awaitApplied();
                open.setAutoCommit(false);
                statement.execute("INSERT INTO pb VALUES (1)");
                replication.source().execute("ALTER PUBLICATION p ADD TABLE pb", "INSERT INTO pa VALUES (1)");
                statement.execute("INSERT INTO pb VALUES (2)");
                open.commit();
                replication.source().execute("INSERT INTO pb VALUES (3)");
                replication.awaitOnTarget("3", "SELECT count(*) FROM pb");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// B063
    @Test
    void tablesMayJoinAndLeaveWithinATransaction() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE pa (i int)", "CREATE TABLE pb (i int)");
            replication.source().execute("CREATE PUBLICATION p FOR TABLE pa");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .transaction(
                                "INSERT INTO pa VALUES (1)",
                                "INSERT INTO pb VALUES (1)",
                                "ALTER PUBLICATION p ADD TABLE pb",
                                "INSERT INTO pb VALUES (2)",
                                "ALTER PUBLICATION p DROP TABLE pa",
                                "INSERT INTO pa VALUES (2)");
                replication.source().execute("INSERT INTO pb VALUES (3)");
                replication.awaitOnTarget("3", "SELECT count(*) FROM pb");
                replication.awaitApplied();
                replication.assertIdentical("pb");
                assertTrue(replication.target().rows("pa").stream().allMatch("(1)"::equals), "pa");
                Await.until(
                        "the table that left is reported",
                        () -> run.events(EngineEvent.Warning.class).stream()
                                .anyMatch(warning ->
                                        warning.message().startsWith("table public.pa is no longer published")));
                run.assertRunning();
            }
        }
    }

    /// B064
    @Test
    void copyAndStreamFollowFilterAndListAlike() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE rf (id int PRIMARY KEY, st text, body text, priv text)",
                    "CREATE TABLE cl (id int PRIMARY KEY, st text, body text, priv text)");
            replication.target().execute("ALTER TABLE cl ADD own text DEFAULT 'mine'");
            replication
                    .source()
                    .execute(
                            "ALTER TABLE rf REPLICA IDENTITY FULL",
                            "ALTER TABLE rf ALTER body SET STORAGE EXTERNAL",
                            "INSERT INTO rf SELECT g, CASE WHEN g % 2 = 0 THEN 'on' ELSE 'off' END, repeat('b', 5000), 'p'"
                                    + " FROM generate_series(1, 4) g",
                            "INSERT INTO cl VALUES (1, 'on', 'b', 'p')",
                            "CREATE PUBLICATION f FOR TABLE rf WHERE (st = 'on')",
                            "CREATE PUBLICATION c FOR TABLE cl (id, st)");
            replication.with(setup -> setup.publications = List.of("f", "c"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(
                        replication.source().rows("rf WHERE st = 'on'"),
                        replication.target().rows("rf"));
                replication.target().execute("UPDATE cl SET body = 'kept', own = 'changed' WHERE id = 1");
                replication
                        .source()
                        .execute(
                                "UPDATE rf SET st = 'on' WHERE id = 1",
                                "UPDATE rf SET st = 'off' WHERE id = 2",
                                "UPDATE rf SET body = 'n' WHERE id = 3",
                                "UPDATE rf SET priv = 'q' WHERE id = 4",
                                "UPDATE cl SET priv = 'z'",
                                "INSERT INTO cl VALUES (2, 'off', 'b', 'p')",
                                "UPDATE cl SET st = 'off' WHERE id = 1");
                replication.awaitApplied();
                assertEquals(
                        replication.source().rows("rf WHERE st = 'on'"),
                        replication.target().rows("rf"));
                assertEquals(2, replication.target().count("rf"));
                assertEquals(
                        List.of("(1,off,kept,,changed)", "(2,off,,,mine)"),
                        replication.target().rows("cl"));
                assertTrue(run.events(EngineEvent.ConflictSkipped.class).isEmpty(), "no row was missed");
                run.assertRunning();
            }
        }
    }
}
