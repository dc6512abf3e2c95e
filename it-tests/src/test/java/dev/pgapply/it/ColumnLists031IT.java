package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 031_column_list: only listed columns are copied and streamed, and rows are found by what is listed.
final class ColumnLists031IT {

    /// 031_column_list: #224, #225, #226, #228, #230, #245
    @Test
    void unlistedColumnsStayAsTheTargetHasThem() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE tab1 (a int PRIMARY KEY, \"B\" int, c int)",
                    "CREATE TABLE \"tab 3\" (\"a'\" int PRIMARY KEY, \"b \"\"q\" varchar, \"c'\" int)",
                    "CREATE TYPE mood AS ENUM ('sad', 'happy')",
                    "CREATE TABLE tab4 (a int PRIMARY KEY, m mood)",
                    "CREATE TABLE twice (a int PRIMARY KEY, b int, c int)");
            replication.target().execute("CREATE TABLE tab2 (a int PRIMARY KEY, b varchar)");
            replication
                    .source()
                    .execute(
                            "CREATE TABLE tab2 (a int PRIMARY KEY, b varchar, c int)",
                            "INSERT INTO tab1 VALUES (1, 2, 3), (4, 5, 6)",
                            "INSERT INTO tab2 VALUES (1, 'foo', 2)",
                            "INSERT INTO \"tab 3\" VALUES (1, 'a', 2), (3, NULL, 4)",
                            "INSERT INTO tab4 VALUES (1, 'sad')",
                            "INSERT INTO twice VALUES (0, 2, 3), (1, 2, 3)",
                            "CREATE PUBLICATION p FOR TABLE tab1 (a, \"B\"), tab2 (a, b), \"tab 3\" (\"a'\", \"c'\"),"
                                    + " tab4 (a, m), twice (a, b)",
                            "CREATE PUBLICATION q FOR TABLE twice (a, b)");
            replication.with(setup -> setup.publications = List.of("p", "q"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(List.of("(1,2,)", "(4,5,)"), replication.target().rows("tab1"));
                assertEquals(List.of("(1,,2)", "(3,,4)"), replication.target().rows("\"tab 3\""));
                replication.target().execute("UPDATE tab1 SET c = 99 WHERE a = 1");
                replication
                        .source()
                        .execute(
                                "INSERT INTO tab1 VALUES (2, 3, 4)",
                                "UPDATE tab1 SET \"B\" = 5 * \"B\" WHERE a = 1",
                                "UPDATE tab1 SET c = c + 1",
                                "UPDATE tab1 SET a = 7 WHERE a = 4",
                                "INSERT INTO tab2 VALUES (2, 'bar', 5)",
                                "UPDATE tab2 SET b = 'baz' WHERE a = 1",
                                "UPDATE tab2 SET c = 0",
                                "INSERT INTO \"tab 3\" VALUES (6, 'b', 7)",
                                "UPDATE \"tab 3\" SET \"c'\" = 8, \"b \"\"q\" = 'z' WHERE \"a'\" = 1",
                                "DELETE FROM \"tab 3\" WHERE \"a'\" = 3",
                                "INSERT INTO tab4 VALUES (2, 'happy')",
                                "UPDATE tab4 SET m = 'happy' WHERE a = 1",
                                "INSERT INTO twice VALUES (2, 3, 4), (3, 4, 5)",
                                "UPDATE twice SET b = 0, c = 1 WHERE a = 0");
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,10,99)", "(2,3,)", "(7,5,)"),
                        replication.target().rows("tab1"));
                assertEquals(
                        replication.source().rows("(SELECT a, b FROM tab2) x"),
                        replication.target().rows("tab2"));
                assertEquals(List.of("(1,,8)", "(6,,7)"), replication.target().rows("\"tab 3\""));
                replication.assertIdentical("tab4");
                assertEquals(
                        List.of("(0,0,)", "(1,2,)", "(2,3,)", "(3,4,)"),
                        replication.target().rows("twice"));
                run.assertRunning();
            }
        }
    }

    /// 031_column_list: #229, #231, #232, #233
    @Test
    void keysMayMoveWithinTheList() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE first (a int PRIMARY KEY)",
                    "CREATE TABLE later (a int PRIMARY KEY, b varchar, c int)",
                    "CREATE TABLE keyed (a int PRIMARY KEY, b int, c int)");
            replication.source().execute("CREATE PUBLICATION p FOR TABLE first");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO later VALUES (1, 'abc', 3)",
                                "INSERT INTO keyed VALUES (1, 2, 3), (4, 5, 6)",
                                "ALTER PUBLICATION p ADD TABLE later (a, b), keyed (a, b)",
                                "INSERT INTO later VALUES (2, 'klm', 4)",
                                "UPDATE later SET b = 'xyz', c = 5 WHERE a = 2",
                                "UPDATE later SET c = 6 WHERE a = 1",
                                "UPDATE keyed SET b = b * 11");
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,abc,)", "(2,xyz,)"), replication.target().rows("later"));
                assertEquals(List.of("(1,22,)", "(4,55,)"), replication.target().rows("keyed"));

                replication.both(
                        "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey",
                        "ALTER TABLE keyed ALTER b SET NOT NULL",
                        "ALTER TABLE keyed ADD PRIMARY KEY (b)");
                replication
                        .source()
                        .execute(
                                "INSERT INTO keyed VALUES (6, 8, 0)",
                                "UPDATE keyed SET a = a + 1 WHERE b = 55",
                                "UPDATE keyed SET b = b * 4");
                replication.awaitApplied();
                assertListed(replication);

                replication
                        .source()
                        .execute(
                                "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey",
                                "ALTER TABLE keyed ADD PRIMARY KEY (a, b)",
                                "INSERT INTO keyed VALUES (7, 9, 0)",
                                "UPDATE keyed SET b = b + 1",
                                "DELETE FROM keyed WHERE b = 10");
                replication.awaitApplied();
                assertListed(replication);

                replication
                        .source()
                        .transaction(
                                "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey",
                                "INSERT INTO keyed VALUES (8, 10, 0), (9, 11, 0)",
                                "ALTER TABLE keyed ADD PRIMARY KEY (b)",
                                "UPDATE keyed SET a = a * 2 WHERE b > 50",
                                "DELETE FROM keyed WHERE b = 10");
                replication.awaitApplied();
                assertListed(replication);
                run.assertRunning();
            }
        }
    }

    private static void assertListed(Replication replication) {
        assertEquals(
                replication.source().rows("(SELECT a, b FROM keyed) x"),
                replication.target().rows("(SELECT a, b FROM keyed) x"));
        assertEquals(0, replication.target().count("keyed WHERE c IS NOT NULL"));
    }

    /// 031_column_list: #227, #234, #235, #241, #243, #244
    @Test
    void listOfTheTopmostPublishedAncestorCounts() {
        try (Replication replication = Replication.newest()) {
            String[] tables = {
                // Three levels, one list.
                "CREATE TABLE deep (a int, b int, c int, PRIMARY KEY (a)) PARTITION BY LIST (a)",
                "CREATE TABLE deep_1 PARTITION OF deep FOR VALUES IN (1, 2, 3)",
                "CREATE TABLE deep_2 PARTITION OF deep FOR VALUES IN (4, 5, 6) PARTITION BY LIST (a)",
                "CREATE TABLE deep_21 PARTITION OF deep_2 FOR VALUES IN (4, 5, 6)",
                // Leaves with identities of their own.
                "CREATE TABLE root (a int NOT NULL, b int NOT NULL, c int) PARTITION BY LIST (a)",
                "CREATE TABLE root_1 PARTITION OF root FOR VALUES IN (1, 2, 3)",
                "CREATE TABLE root_2 PARTITION OF root FOR VALUES IN (4, 5, 6, 7)",
                "ALTER TABLE root_1 ADD PRIMARY KEY (a)",
                "CREATE UNIQUE INDEX root_2_b ON root_2 (b)",
                "ALTER TABLE root_2 REPLICA IDENTITY USING INDEX root_2_b",
            };
            replication.both(tables);
            for (String name : List.of("mix1", "mix2", "mix3")) {
                replication.both(
                        "CREATE TABLE " + name + " (a int PRIMARY KEY, b int, c int) PARTITION BY RANGE (a)",
                        "CREATE TABLE " + name + "_m PARTITION OF " + name + " DEFAULT PARTITION BY RANGE (a)",
                        "CREATE TABLE " + name + "_l PARTITION OF " + name + "_m DEFAULT");
            }
            replication
                    .source()
                    .execute(
                            "INSERT INTO deep VALUES (1, 4, 1), (4, 1, 2), (2, 5, 3), (5, 2, 4)",
                            "INSERT INTO root VALUES (1, 1, 5), (7, 4, 6)",
                            "CREATE PUBLICATION p FOR TABLE deep (a, b), root (a, b), root_1 (a, c), root_2 (b, c)"
                                    + " WITH (publish_via_partition_root = true)",
                            "CREATE PUBLICATION mix1_root FOR TABLE mix1 (a) WITH (publish_via_partition_root = true)",
                            "CREATE PUBLICATION mix1_leaf FOR TABLE mix1_l (a, b)",
                            "CREATE PUBLICATION mix2_both FOR TABLE mix2_m (a), mix2_l WITH (publish_via_partition_root = true)",
                            "CREATE PUBLICATION mix3_both FOR TABLE mix3_m (a), mix3_l (a, b)"
                                    + " WITH (publish_via_partition_root = true)");
            replication.source().execute("INSERT INTO mix1 VALUES (1, 2, 3)", "INSERT INTO mix2 VALUES (1, 2, 3)");
            replication.with(
                    setup -> setup.publications = List.of("p", "mix1_root", "mix1_leaf", "mix2_both", "mix3_both"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO deep VALUES (3, 6, 5), (6, 3, 6)",
                                "UPDATE deep SET b = b + 1 WHERE a = 5",
                                "INSERT INTO root VALUES (2, 3, 7), (6, 2, 8)",
                                "INSERT INTO mix1 VALUES (2, 3, 4)",
                                "INSERT INTO mix2 VALUES (2, 3, 4)",
                                "INSERT INTO mix3 VALUES (2, 3, 4)");
                replication.awaitApplied();
                for (String table : List.of("deep", "root")) {
                    assertEquals(
                            replication.source().rows("(SELECT a, b FROM " + table + ") x"),
                            replication.target().rows("(SELECT a, b FROM " + table + ") x"));
                    assertEquals(0, replication.target().count(table + " WHERE c IS NOT NULL"));
                }
                assertEquals(List.of("(1,,)", "(2,,)"), replication.target().rows("mix1"));
                assertEquals(List.of("(1,,)", "(2,,)"), replication.target().rows("mix2"));
                assertEquals(List.of("(2,,)"), replication.target().rows("mix3"));
                run.assertRunning();
            }
        }
    }

    /// 031_column_list: #236, #237, #238
    @Test
    void eachLeafHasItsOwnListWhereLeavesArePublished() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE t (a int NOT NULL, b int NOT NULL, c int NOT NULL DEFAULT 0) PARTITION BY LIST (a)",
                    "CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1, 3)",
                    "CREATE TABLE t_2 PARTITION OF t FOR VALUES IN (2, 4)",
                    "ALTER TABLE t_1 ADD PRIMARY KEY (a)",
                    "ALTER TABLE t_2 ADD PRIMARY KEY (a)",
                    "CREATE TABLE att (a int NOT NULL, b int NOT NULL) PARTITION BY LIST (a)",
                    "CREATE TABLE att_1 PARTITION OF att FOR VALUES IN (1)",
                    "CREATE TABLE att_2 (a int NOT NULL, b int NOT NULL)",
                    "ALTER TABLE att_1 ADD PRIMARY KEY (a)",
                    "CREATE UNIQUE INDEX att_2_b ON att_2 (b)",
                    "ALTER TABLE att_2 REPLICA IDENTITY USING INDEX att_2_b");
            replication
                    .target()
                    .execute(
                            "ALTER TABLE t ALTER b SET DEFAULT -1, ALTER c SET DEFAULT -1",
                            "ALTER TABLE t_1 ALTER b SET DEFAULT -1, ALTER c SET DEFAULT -1",
                            "ALTER TABLE t_2 ALTER b SET DEFAULT -1, ALTER c SET DEFAULT -1");
            replication
                    .source()
                    .execute(
                            "INSERT INTO t VALUES (1, 3, 5), (2, 4, 6)",
                            "CREATE PUBLICATION p FOR TABLE t_1 (a, c), t_2 (a, b)",
                            "CREATE PUBLICATION q FOR TABLE att (a, b) WITH (publish_via_partition_root = true)");
            replication.with(setup -> setup.publications = List.of("p", "q"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,-1,5)", "(2,4,-1)"), replication.target().rows("t"));
                replication
                        .source()
                        .execute(
                                "INSERT INTO t VALUES (3, 1, 7), (4, 2, 8)",
                                "INSERT INTO att VALUES (1, 1)",
                                "ALTER TABLE att ATTACH PARTITION att_2 FOR VALUES IN (3)",
                                "INSERT INTO att VALUES (3, 3)");
                replication.target().execute("ALTER TABLE att ATTACH PARTITION att_2 FOR VALUES IN (3)");
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,-1,5)", "(2,4,-1)", "(3,-1,7)", "(4,2,-1)"),
                        replication.target().rows("t"));
                replication.assertIdentical("att");
                run.assertRunning();
            }
            replication
                    .source()
                    .execute("DROP PUBLICATION p", "TRUNCATE t", "CREATE PUBLICATION p FOR TABLE t_1 (a), t_2 (a, b)");
            replication.target().execute("TRUNCATE t");
            replication.source().execute("INSERT INTO t VALUES (1, 3, 5), (2, 4, 6)");
            replication.applyUntilNow();
            assertEquals(List.of("(1,-1,-1)", "(2,4,-1)"), replication.target().rows("t"));
        }
    }

    /// 031_column_list: #239, #240, #246
    @Test
    void listOfAllColumnsIsTheSameAsNone() {
        for (String other : List.of("ALL TABLES", "TABLES IN SCHEMA public", "TABLE t")) {
            try (Replication replication = Replication.newest()) {
                replication.both(
                        "CREATE TABLE t (a int PRIMARY KEY, b int, gone int, c int)", "ALTER TABLE t DROP COLUMN gone");
                replication
                        .source()
                        .execute(
                                "ALTER TABLE t ADD COLUMN g int GENERATED ALWAYS AS (a + 1) STORED",
                                "CREATE PUBLICATION listed FOR TABLE t (a, b, c)",
                                "CREATE PUBLICATION other FOR " + other,
                                "INSERT INTO t VALUES (1, 2, 3)");
                replication.with(setup -> setup.publications = List.of("listed", "other"));
                replication.applyUntilNow();
                replication.source().execute("INSERT INTO t VALUES (4, 5, 6)");
                replication.applyUntilNow();
                assertEquals(List.of("(1,2,3)", "(4,5,6)"), replication.target().rows("t"), other);
            }
        }
    }

    /// 031_column_list: #242
    @Test
    void leafWithAFullListBesideItsSchemaIsPublishedInFull() {
        for (List<String> order : List.of(List.of("p", "q"), List.of("q", "p"))) {
            try (Replication replication = Replication.newest()) {
                replication.both(
                        "CREATE SCHEMA s",
                        "CREATE TABLE s.root (a int PRIMARY KEY, b int, c int) PARTITION BY RANGE (a)",
                        "CREATE TABLE leaf PARTITION OF s.root DEFAULT");
                replication
                        .source()
                        .execute(
                                "CREATE PUBLICATION p FOR TABLES IN SCHEMA s WITH (publish_via_partition_root = true)",
                                "CREATE PUBLICATION q FOR TABLE leaf (a, b, c)",
                                "INSERT INTO s.root VALUES (1, 2, 3)");
                replication.with(setup -> setup.publications = order).applyUntilNow();
                replication.source().execute("INSERT INTO s.root VALUES (2, 3, 4)");
                replication.applyUntilNow();
                replication.assertIdentical("s.root");
            }
        }
    }

    /// 031_column_list: #247, #248
    @Test
    void differentListsOfOneTableAreRefused() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (a int PRIMARY KEY, b int, c int)");
            replication
                    .source()
                    .execute("CREATE PUBLICATION p FOR TABLE t (a, b)", "CREATE PUBLICATION q FOR TABLE t (a, c)");
            replication.with(setup -> setup.publications = List.of("p", "q"));
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
                assertTrue(
                        String.valueOf(refused.getMessage()).contains("different column lists"), refused::getMessage);
            }
            replication.source().execute("ALTER PUBLICATION q SET TABLE t (a, b)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (1, 2, 3)");
                replication.awaitApplied();
                replication
                        .source()
                        .execute("ALTER PUBLICATION q SET TABLE t (a, c)", "INSERT INTO t VALUES (2, 3, 4)");
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
            }
            assertEquals(List.of("(1,2,)"), replication.target().rows("t"));
            // What was written between the two changes cannot be decoded, whatever the publications say now.
            replication.source().execute("ALTER PUBLICATION q SET TABLE t (a, b)");
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
            }
        }
    }
}
