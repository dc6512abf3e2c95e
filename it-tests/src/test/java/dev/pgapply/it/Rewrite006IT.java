package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/// 006_rewrite: what rewrites a table at the source sends no rows.
final class Rewrite006IT {

    /// 006_rewrite: #57
    @Test
    void aRewriteSendsNothingAndTheNextRowHasTheNewColumns() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE test1 (a int PRIMARY KEY, b text)", "CREATE TABLE test2 (a int, b int)");
            try (EngineRun run = replication.engine()) {
                replication
                        .source()
                        .execute(
                                "INSERT INTO test1 (a, b) VALUES (1, 'one'), (2, 'two')",
                                "INSERT INTO test2 VALUES (1, 1)");
                replication.awaitSeen();
                replication.assertIdentical();
                // The target first, so that it can take what comes.
                for (TestDatabase side : List.of(replication.target(), replication.source())) {
                    side.execute(
                            "ALTER TABLE test1 ADD COLUMN c int NOT NULL DEFAULT 0",
                            "ALTER TABLE test1 ADD COLUMN d uuid NOT NULL DEFAULT '4d8e5a3c-0000-4000-8000-000000000000'",
                            "ALTER TABLE test2 ALTER COLUMN b TYPE bigint");
                }
                replication
                        .source()
                        .execute(
                                "INSERT INTO test1 (a, b, c) VALUES (3, 'three', 33)",
                                "INSERT INTO test2 VALUES (2, 5000000000)",
                                "UPDATE test1 SET c = 11 WHERE a = 1",
                                "VACUUM FULL test1",
                                "INSERT INTO test1 (a, b) VALUES (4, 'four')");
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(4, replication.target().count("test1"));
                run.assertRunning();
            }
        }
    }
}
