package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 009_matviews: relations that are no ordinary tables of the source are not followed, and stop nothing.
final class Matviews009IT {

    /// 009_matviews: #70
    @Test
    void materializedViewsAreNotFollowed() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE test1 (a int PRIMARY KEY, b text)");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication
                        .source()
                        .execute(
                                "INSERT INTO test1 (a, b) VALUES (1, 'one'), (2, 'two')",
                                "CREATE MATERIALIZED VIEW testmv1 AS SELECT * FROM test1",
                                "CREATE UNIQUE INDEX ON testmv1 (a)",
                                "INSERT INTO test1 VALUES (3, 'three')",
                                "REFRESH MATERIALIZED VIEW testmv1",
                                "INSERT INTO test1 VALUES (4, 'four')",
                                "REFRESH MATERIALIZED VIEW CONCURRENTLY testmv1",
                                "CREATE VIEW v AS SELECT * FROM test1",
                                "CREATE TABLE made_and_dropped AS SELECT 1 AS a",
                                "DROP TABLE made_and_dropped",
                                "INSERT INTO test1 VALUES (5, 'five')");
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(5, replication.target().count("test1"));
                assertEquals(List.of(), run.events(EngineEvent.Retrying.class));
                run.assertRunning();
            }
        }
    }
}
