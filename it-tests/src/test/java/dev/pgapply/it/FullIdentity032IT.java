package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/// 032_subscribe_use_index: rows of tables with REPLICA IDENTITY FULL are found by whatever index the target
/// has, or by none, and always the right ones.
final class FullIdentity032IT {

    /// 032_subscribe_use_index: #249, #252, #253, #255
    @Test
    void anyFittingIndexOfTheTargetIsUsed() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE pair (x int, y int)",
                    "CREATE TABLE people (firstname text, lastname text)",
                    "CREATE TABLE hashed (x int, y int)");
            replication.source().execute("CREATE TABLE local (id int, v text)");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE local (id int, only_here int, v text)",
                            "CREATE INDEX pair_x_y ON pair (x, y)",
                            "CREATE INDEX people_names ON people (firstname, lastname, (firstname || ' ' || lastname))",
                            "CREATE INDEX hashed_x ON hashed USING hash (x)",
                            "CREATE INDEX local_both ON local (id, only_here)");
            for (String table : List.of("pair", "people", "hashed", "local")) {
                replication.source().execute("ALTER TABLE " + table + " REPLICA IDENTITY FULL");
            }
            replication
                    .source()
                    .execute(
                            "INSERT INTO pair SELECT g % 10, g FROM generate_series(1, 300) g",
                            "INSERT INTO people SELECT 'first ' || g, 'last ' || g FROM generate_series(0, 200) g",
                            "INSERT INTO hashed SELECT g % 10, g FROM generate_series(1, 300) g",
                            "INSERT INTO local SELECT g, 'v' FROM generate_series(0, 20) g");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.target().execute("UPDATE local SET only_here = 1 WHERE id % 2 = 0");
                replication
                        .source()
                        .execute(
                                "DELETE FROM pair WHERE x = 5 AND y IN (15, 25)",
                                "UPDATE pair SET x = 100, y = 200 WHERE x = 4 AND y IN (14, 24)",
                                "UPDATE people SET firstname = 'no-name' WHERE firstname = 'first 1'",
                                "DELETE FROM people WHERE firstname = 'first 2'",
                                "DELETE FROM hashed WHERE x = 5 AND y IN (15, 25)",
                                "UPDATE hashed SET x = NULL, y = 200 WHERE x = 4 AND y IN (14, 24)",
                                "UPDATE local SET v = 'w' WHERE id IN (2, 3)",
                                "DELETE FROM local WHERE id IN (4, 5)");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of("(2,1,w)", "(3,,w)"), replication.target().rows("local WHERE v = 'w'"));
                replication.target().execute("DROP INDEX people_names");
                replication
                        .source()
                        .execute(
                                "UPDATE people SET lastname = NULL WHERE firstname = 'first 3'",
                                "DELETE FROM people WHERE firstname = 'first 4'",
                                "DELETE FROM people WHERE lastname IS NULL",
                                "UPDATE hashed SET y = 201 WHERE x IS NULL");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
            for (String index : List.of("pair_x_y", "hashed_x", "local_both")) {
                replication.awaitOnTarget(
                        "t", "SELECT idx_scan >= 4 FROM pg_stat_user_indexes WHERE indexrelname = '" + index + "'");
            }
        }
    }

    /// 032_subscribe_use_index: #250
    @Test
    void rowsMoveBetweenPartitionsOfATargetWithoutAKey() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE users (user_id bigint NOT NULL, value_1 int, value_2 int) PARTITION BY RANGE (value_1)",
                    "CREATE TABLE users_0 PARTITION OF users FOR VALUES FROM (0) TO (10)",
                    "CREATE TABLE users_1 PARTITION OF users FOR VALUES FROM (10) TO (20)",
                    "ALTER TABLE users REPLICA IDENTITY FULL",
                    "ALTER TABLE users_0 REPLICA IDENTITY FULL",
                    "ALTER TABLE users_1 REPLICA IDENTITY FULL");
            replication.target().execute("CREATE INDEX users_index ON users (user_id, value_1)");
            replication
                    .source()
                    .execute(
                            "INSERT INTO users SELECT g, g % 20, g FROM generate_series(0, 99) g",
                            "CREATE PUBLICATION p FOR TABLE users WITH (publish_via_partition_root = true)");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "UPDATE users SET value_1 = 0 WHERE user_id = 4",
                                "UPDATE users SET value_1 = 10 + value_1 WHERE user_id IN (5, 25)",
                                "UPDATE users SET value_1 = value_1 - 10 WHERE user_id = 12",
                                "UPDATE users SET user_id = 12 WHERE user_id = 12",
                                "DELETE FROM users WHERE user_id = 12",
                                "DELETE FROM users WHERE user_id = 5");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(98, replication.target().count("users"));
                run.assertRunning();
            }
        }
    }

    /// 032_subscribe_use_index: #251, #254
    @Test
    void indexesThatDoNotCoverEveryRowAreNoDanger() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE expression (v text)",
                    "CREATE TABLE part (x int, v text)",
                    "CREATE TABLE double_y (x int, y int)");
            for (String table : List.of("expression", "part", "double_y")) {
                replication.source().execute("ALTER TABLE " + table + " REPLICA IDENTITY FULL");
            }
            replication
                    .target()
                    .execute(
                            "CREATE INDEX expression_index ON expression (upper(v))",
                            "CREATE UNIQUE INDEX part_index ON part (x) WHERE v = 'unique'",
                            "CREATE UNIQUE INDEX double_index ON double_y (x, y)",
                            "CREATE INDEX double_y_index ON double_y (y)",
                            "INSERT INTO double_y VALUES (2, 15)");
            replication
                    .source()
                    .execute(
                            "INSERT INTO expression SELECT 'name ' || g FROM generate_series(0, 199) g",
                            "INSERT INTO part SELECT g / 2, CASE WHEN g % 2 = 0 THEN 'unique' ELSE 'other' END"
                                    + " FROM generate_series(0, 19) g",
                            "INSERT INTO double_y VALUES (1, 15), (1, 10)");
            replication.with(setup -> setup.targetRows = dev.pgapply.apply.Subscription.TargetRows.KEEP);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "UPDATE expression SET v = 'updated' WHERE v = 'name 1'",
                                "UPDATE expression SET v = 'NAME 2' WHERE v = 'name 2'",
                                "DELETE FROM expression WHERE v = 'name 3'",
                                "UPDATE part SET v = 'third' WHERE x = 4 AND v = 'other'",
                                "DELETE FROM part WHERE x = 5 AND v = 'other'",
                                "UPDATE part SET x = 100 WHERE x = 6 AND v = 'unique'",
                                "UPDATE double_y SET x = 2000 WHERE y = 15");
                replication.awaitApplied();
                replication.assertIdentical("expression", "part");
                assertEquals(
                        List.of("(1,10)", "(2,15)", "(2000,15)"),
                        replication.target().rows("double_y"));
                assertTrue(
                        run.events(dev.pgapply.apply.EngineEvent.ConflictSkipped.class)
                                .isEmpty(),
                        "no row was missed");
                run.assertRunning();
            }
        }
    }
}
