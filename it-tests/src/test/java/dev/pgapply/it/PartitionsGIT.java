package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Field cases of group G: partitions and inheritance.
final class PartitionsGIT {

    /// B053
    @Test
    void rowsThatMoveBetweenLeavesAreDeletedThereAndInsertedHere() {
        try (Replication replication = Replication.newest()) {
            replication
                    .source()
                    .execute(
                            "CREATE TABLE mv (id int, r text, v text, PRIMARY KEY (id, r)) PARTITION BY LIST (r)",
                            "CREATE TABLE mv_e PARTITION OF mv FOR VALUES IN ('e')",
                            "CREATE TABLE mv_w PARTITION OF mv FOR VALUES IN ('w')",
                            "CREATE PUBLICATION pl FOR TABLE mv_e");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE mv_e (id int, r text, v text, PRIMARY KEY (id, r))",
                            "CREATE TABLE mv_w (id int, r text, v text, PRIMARY KEY (id, r))");
            replication.with(setup -> setup.publications = List.of("pl"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO mv VALUES (1, 'e', 'a'), (2, 'w', 'b'), (3, 'e', 'c')",
                                "UPDATE mv SET r = 'w' WHERE id = 1",
                                "UPDATE mv SET r = 'e', v = 'c' WHERE id = 2");
                replication.awaitApplied();
                replication.assertIdentical("mv_e");
                assertEquals(0, replication.target().count("mv_w"));
                replication.source().execute("ALTER PUBLICATION pl ADD TABLE mv_w");
                for (int i = 0; i < 3; i++) {
                    replication
                            .source()
                            .execute("UPDATE mv SET r = CASE r WHEN 'e' THEN 'w' ELSE 'e' END, v = v || '!'");
                }
                replication
                        .source()
                        .transaction(
                                "UPDATE mv SET r = CASE r WHEN 'e' THEN 'w' ELSE 'e' END",
                                "UPDATE mv SET r = CASE r WHEN 'e' THEN 'w' ELSE 'e' END WHERE id < 3",
                                "UPDATE mv SET id = id + 10");
                replication.awaitApplied();
                replication.assertIdentical("mv_e", "mv_w");
                assertTrue(run.events(EngineEvent.ConflictSkipped.class).isEmpty(), "no row was missed");
                run.assertRunning();
            }
        }
    }

    /// B054
    @Test
    void attachedRowsWereNeverSentAndDetachedOnesStay() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE q (id int, r text, PRIMARY KEY (id, r)) PARTITION BY LIST (r)",
                    "CREATE TABLE q_e PARTITION OF q FOR VALUES IN ('e')");
            replication.target().execute("CREATE TABLE q_other PARTITION OF q DEFAULT");
            replication.source().execute("CREATE PUBLICATION p FOR TABLE q WITH (publish_via_partition_root = true)");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO q VALUES (1, 'e')",
                                "CREATE TABLE q_x (id int NOT NULL, r text NOT NULL)",
                                "INSERT INTO q_x VALUES (9, 'x')",
                                "ALTER TABLE q ATTACH PARTITION q_x FOR VALUES IN ('x')",
                                "INSERT INTO q VALUES (10, 'x')",
                                "ALTER TABLE q DETACH PARTITION q_x",
                                "INSERT INTO q_x VALUES (11, 'x')");
                replication.awaitApplied();
                assertEquals(List.of("(1,e)", "(10,x)"), replication.target().rows("q"));
                run.assertRunning();
            }
        }
    }

    /// B055
    @Test
    void copyTakesEachRowOnceFromTreesOfBothKinds() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE base (id int, v text)", "CREATE TABLE sub (extra int) INHERITS (base)");
            for (String table : List.of("by_root", "by_leaf")) {
                replication.both(
                        "CREATE TABLE " + table + " (id int PRIMARY KEY) PARTITION BY RANGE (id)",
                        "CREATE TABLE " + table + "_1 PARTITION OF " + table + " FOR VALUES FROM (0) TO (10)",
                        "CREATE TABLE " + table + "_2 PARTITION OF " + table + " DEFAULT PARTITION BY RANGE (id)",
                        "CREATE TABLE " + table + "_21 PARTITION OF " + table + "_2 DEFAULT");
                replication.source().execute("INSERT INTO " + table + " VALUES (1), (2), (20)");
            }
            replication
                    .source()
                    .execute(
                            "INSERT INTO base VALUES (1, 'b')",
                            "INSERT INTO sub VALUES (2, 's', 9)",
                            "CREATE PUBLICATION p FOR TABLE base, sub, by_leaf",
                            "CREATE PUBLICATION q FOR TABLE by_root WITH (publish_via_partition_root = true)");
            replication.with(setup -> setup.publications = List.of("p", "q"));
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(List.of("(1,b)"), replication.target().rows("ONLY base"));
            assertEquals(List.of("(2,s,9)"), replication.target().rows("sub"));
            assertEquals(3, replication.target().count("by_root"));
            replication
                    .source()
                    .execute(
                            "ALTER TABLE base REPLICA IDENTITY FULL",
                            "ALTER TABLE sub REPLICA IDENTITY FULL",
                            "UPDATE base SET v = 'c'",
                            "INSERT INTO base VALUES (2, 's')",
                            "DELETE FROM ONLY base WHERE id = 2",
                            "TRUNCATE ONLY base");
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(List.of("(2,c,9)"), replication.target().rows("sub"));
        }
    }

    /// B055
    @Test
    void partitionThatIsAForeignTableIsRefused() {
        try (Replication replication = Replication.newest()) {
            replication
                    .source()
                    .execute(
                            "CREATE TABLE p (id int, r text) PARTITION BY LIST (r)",
                            "CREATE TABLE p_e PARTITION OF p FOR VALUES IN ('e')",
                            "INSERT INTO p VALUES (1, 'e')");
            replication
                    .target()
                    .execute(
                            "CREATE FOREIGN DATA WRAPPER elsewhere",
                            "CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere",
                            "CREATE TABLE p (id int, r text) PARTITION BY LIST (r)",
                            "CREATE FOREIGN TABLE p_e PARTITION OF p FOR VALUES IN ('e') SERVER elsewhere");
            for (String way : List.of("true", "false")) {
                replication
                        .source()
                        .execute(
                                "DROP PUBLICATION IF EXISTS pub",
                                "CREATE PUBLICATION pub FOR TABLE p WITH (publish_via_partition_root = " + way + ")");
                replication.with(setup -> setup.publications = List.of("pub"));
                try (EngineRun run = replication.engine()) {
                    ApplyException refused = run.awaitFailure();
                    assertEquals(ErrorCode.SETUP, refused.code());
                    assertTrue(String.valueOf(refused.getMessage()).contains("foreign table"), refused::getMessage);
                }
            }
        }
    }
}
