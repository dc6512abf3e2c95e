package dev.pgapply.it;

import org.junit.jupiter.api.Test;

/// The main job in small.
final class BasicsIT {

    @Test
    void copiesOnceAndThenFollows() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE t (id int PRIMARY KEY, v text, n numeric(10,2))", "CREATE TABLE bag (a int, b text)");
            replication
                    .source()
                    .execute(
                            "ALTER TABLE bag REPLICA IDENTITY FULL",
                            "INSERT INTO t SELECT g, 'row ' || g, g / 3.0 FROM generate_series(1, 1000) g",
                            "INSERT INTO bag VALUES (1, NULL), (1, NULL), (NULL, 'x')");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.assertIdentical();
                replication
                        .source()
                        .execute(
                                "INSERT INTO t VALUES (2000, 'new', 1.5)",
                                "UPDATE t SET v = 'changed' WHERE id <= 10",
                                "UPDATE t SET id = -id WHERE id BETWEEN 20 AND 30",
                                "DELETE FROM t WHERE id > 900 AND id < 1000",
                                "DELETE FROM bag WHERE ctid = '(0,2)'",
                                "UPDATE bag SET b = 'y' WHERE a IS NULL");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
            replication
                    .source()
                    .execute("INSERT INTO bag VALUES (7, 'later')", "TRUNCATE t", "INSERT INTO t VALUES (1, 'a', 0)");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }
}
