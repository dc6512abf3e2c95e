package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/// Field cases of group F: TRUNCATE.
final class TruncateFIT {

    /// B050
    @Test
    void truncateKeepsItsPlaceAmongTheChangesAndIgnoresRowFilters() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE m (i int)",
                    "CREATE TABLE kept (i int)",
                    "CREATE TABLE filtered (id int PRIMARY KEY)");
            replication.source().execute("CREATE TABLE flat (i int PRIMARY KEY, v text)");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE flat (i int PRIMARY KEY, v text) PARTITION BY RANGE (i)",
                            "CREATE TABLE flat_1 PARTITION OF flat FOR VALUES FROM (0) TO (10)",
                            "CREATE TABLE flat_2 PARTITION OF flat DEFAULT");
            replication
                    .source()
                    .execute(
                            "CREATE PUBLICATION p FOR TABLE m, flat",
                            "CREATE PUBLICATION nt FOR TABLE kept WITH (publish = 'insert,update,delete')",
                            "CREATE PUBLICATION f FOR TABLE filtered WHERE (id > 10)",
                            "INSERT INTO flat VALUES (1, 'a'), (20, 'b')");
            replication.with(setup -> setup.publications = List.of("p", "nt", "f"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .transaction(
                                "INSERT INTO m VALUES (1)",
                                "TRUNCATE m",
                                "INSERT INTO m VALUES (2)",
                                "TRUNCATE m",
                                "INSERT INTO m VALUES (3)");
                replication
                        .source()
                        .execute(
                                "INSERT INTO kept VALUES (1)",
                                "TRUNCATE kept",
                                "INSERT INTO kept VALUES (2)",
                                "INSERT INTO filtered VALUES (1), (11), (12)",
                                "TRUNCATE filtered",
                                "INSERT INTO filtered VALUES (2), (13)",
                                "INSERT INTO flat VALUES (2, 'c')");
                replication.awaitApplied();
                assertEquals(List.of("(3)"), replication.target().rows("m"));
                assertEquals(List.of("(1)", "(2)"), replication.target().rows("kept"));
                assertEquals(List.of("(13)"), replication.target().rows("filtered"));
                replication.assertIdentical("flat");
                replication.source().execute("TRUNCATE flat", "INSERT INTO flat VALUES (3, 'd')");
                replication.awaitApplied();
                assertEquals(List.of("(3,d)"), replication.target().rows("flat"));
                run.assertRunning();
            }
        }
    }

    /// B051
    @Test
    void truncateOfALeafIsSentOnlyWhereLeavesArePublished() {
        try (Replication replication = Replication.newest()) {
            for (String table : List.of("by_root", "by_leaf")) {
                replication.both(
                        "CREATE TABLE " + table + " (id int, r text, PRIMARY KEY (id, r)) PARTITION BY LIST (r)",
                        "CREATE TABLE " + table + "_e PARTITION OF " + table + " FOR VALUES IN ('e')",
                        "CREATE TABLE " + table + "_w PARTITION OF " + table + " FOR VALUES IN ('w')");
            }
            replication
                    .source()
                    .execute(
                            "CREATE PUBLICATION pr FOR TABLE by_root WITH (publish_via_partition_root = true)",
                            "CREATE PUBLICATION pl FOR TABLE by_leaf");
            replication.with(setup -> setup.publications = List.of("pr", "pl"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (String table : List.of("by_root", "by_leaf")) {
                    replication
                            .source()
                            .execute(
                                    "INSERT INTO " + table + " VALUES (1, 'e'), (1, 'w')",
                                    "TRUNCATE " + table + "_e",
                                    "INSERT INTO " + table + " VALUES (2, 'e')");
                }
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,e)", "(1,w)", "(2,e)"), replication.target().rows("by_root"));
                replication.assertIdentical("by_leaf");
                replication.source().execute("TRUNCATE by_root", "INSERT INTO by_root VALUES (3, 'w')");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }
}
