package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.Subscription.TargetRows;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 028_row_filter: the copy takes the rows that the stream would carry, whatever publications say of a table
/// together.
final class RowFilters028IT {

    /// 028_row_filter: #195, #205, #206, #207, #209
    @Test
    void rowsCrossTheFilterAsInsertsAndDeletes() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE one (a int PRIMARY KEY, b text)",
                    "CREATE TABLE toast (a text NOT NULL, b text NOT NULL)",
                    "ALTER TABLE toast ALTER a SET STORAGE EXTERNAL",
                    "CREATE UNIQUE INDEX toast_key ON toast (a, b)",
                    "ALTER TABLE toast REPLICA IDENTITY USING INDEX toast_key");
            replication
                    .source()
                    .execute(
                            "ALTER TABLE one REPLICA IDENTITY FULL",
                            "INSERT INTO one VALUES (1, 'no 1'), (1001, 'yes 1001'), (1002, 'yes 1002'), (1500, 'filtered'),"
                                    + " (1980, 'yes 1980')",
                            "INSERT INTO toast VALUES (repeat('1234567890', 200), '1234567890')",
                            "CREATE PUBLICATION p FOR TABLE one WHERE (a > 1000 AND b <> 'filtered'),"
                                    + " toast WHERE (a = repeat('1234567890', 200) AND b < '10')");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(
                        List.of("(1001,\"yes 1001\")", "(1002,\"yes 1002\")", "(1980,\"yes 1980\")"),
                        replication.target().rows("one"));
                assertEquals(0, replication.target().count("toast"));
                replication
                        .source()
                        .execute(
                                "INSERT INTO one VALUES (800, 'no 800'), (1600, 'yes 1600'), (1601, NULL), (1602, 'filtered'),"
                                        + " (1700, 'yes 1700')",
                                "UPDATE one SET b = NULL WHERE a = 1600",
                                "UPDATE one SET b = 'yes 1601' WHERE a = 1601",
                                "UPDATE one SET b = 'yes 1602' WHERE a = 1602",
                                "UPDATE one SET b = 'still ' || b WHERE a = 1001",
                                "UPDATE one SET a = 2000 WHERE a = 1002",
                                "UPDATE one SET a = 5 WHERE a = 1980",
                                "DELETE FROM one WHERE a IN (1700, 1)",
                                "UPDATE toast SET b = '1'");
                replication.awaitApplied();
                assertEquals(
                        replication.source().rows("one WHERE a > 1000 AND b <> 'filtered'"),
                        replication.target().rows("one"));
                assertEquals(
                        List.of(
                                "(1001,\"still yes 1001\")",
                                "(1601,\"yes 1601\")",
                                "(1602,\"yes 1602\")",
                                "(2000,\"yes 1002\")"),
                        replication.target().rows("one"));
                replication.assertIdentical("toast");
                run.assertRunning();
            }
        }
    }

    /// 028_row_filter: #196, #197, #198, #201, #204
    @Test
    void filtersOfSeveralPublicationsAreJoinedWithOr() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE two (c int PRIMARY KEY)",
                    "CREATE TABLE three (a int PRIMARY KEY)",
                    "CREATE TABLE four (a int PRIMARY KEY)",
                    "CREATE TABLE long (a text)",
                    "ALTER TABLE long ALTER a SET STORAGE EXTERNAL",
                    "CREATE TABLE gen (id int PRIMARY KEY, a int, v int GENERATED ALWAYS AS (a * 2) VIRTUAL)");
            replication
                    .source()
                    .execute(
                            "INSERT INTO two SELECT generate_series(1, 20)",
                            "INSERT INTO three SELECT generate_series(1, 10)",
                            "INSERT INTO four SELECT generate_series(1, 10)",
                            "INSERT INTO long VALUES (repeat('1234567890', 200))",
                            "INSERT INTO gen VALUES (1, 1), (2, 2), (3, 3)",
                            "CREATE PUBLICATION two_a FOR TABLE two WHERE (c % 2 = 0)",
                            "CREATE PUBLICATION two_b FOR TABLE two WHERE (c % 3 = 0)",
                            "CREATE PUBLICATION three_a FOR TABLE three WHERE (a > 5)",
                            "CREATE PUBLICATION three_b FOR TABLE three, four",
                            "CREATE PUBLICATION long_a FOR TABLE long WHERE (a = repeat('x', 2000)) WITH (publish = insert)",
                            "CREATE PUBLICATION gen_a FOR TABLE gen WHERE (v > 4) WITH (publish = insert)");
            replication.with(
                    setup -> setup.publications = List.of("two_a", "two_b", "three_a", "three_b", "long_a", "gen_a"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                String wanted = "two WHERE c % 2 = 0 OR c % 3 = 0";
                assertEquals(13, replication.target().count("two"));
                assertEquals(
                        replication.source().rows(wanted), replication.target().rows("two"));
                assertEquals(0, replication.target().count("long"));
                assertEquals(List.of("(3,3,6)"), replication.target().rows("gen"));
                replication
                        .source()
                        .execute(
                                "INSERT INTO two SELECT generate_series(21, 25)",
                                "INSERT INTO three SELECT generate_series(11, 13)",
                                "INSERT INTO four VALUES (11)",
                                "INSERT INTO long VALUES (repeat('x', 2000))",
                                "INSERT INTO gen VALUES (4, 0), (5, 5)");
                replication.awaitApplied();
                assertEquals(16, replication.target().count("two"));
                assertEquals(
                        replication.source().rows(wanted), replication.target().rows("two"));
                replication.assertIdentical("three", "four");
                assertEquals(1, replication.target().count("long"));
                assertEquals(
                        List.of("(3,3,6)", "(5,5,10)"), replication.target().rows("gen"));
                run.assertRunning();
            }
        }
    }

    /// 028_row_filter: #193
    @Test
    void publicationOfAllTablesLiftsEveryFilter() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (x int PRIMARY KEY)");
            replication
                    .source()
                    .execute(
                            "INSERT INTO t VALUES (0), (5), (10), (15), (20)",
                            "CREATE PUBLICATION filtered FOR TABLE t WHERE (x > 10)",
                            "CREATE PUBLICATION everything FOR ALL TABLES");
            copyAndInsertCarryAll(
                    replication.with(setup -> setup.publications = List.of("filtered", "everything")), "t");
        }
    }

    /// 028_row_filter: #194
    @Test
    void publicationOfASchemaLiftsTheFiltersOfItsTables() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE SCHEMA s",
                    "CREATE TABLE s.t (x int PRIMARY KEY)",
                    "CREATE TABLE s.parted (x int PRIMARY KEY) PARTITION BY RANGE (x)",
                    "CREATE TABLE public.part PARTITION OF s.parted DEFAULT");
            replication
                    .source()
                    .execute(
                            "INSERT INTO s.t VALUES (0), (5), (10), (15), (20)",
                            "INSERT INTO s.parted VALUES (1), (20)",
                            "CREATE PUBLICATION filtered FOR TABLE s.t WHERE (x > 10)",
                            "CREATE PUBLICATION schema FOR TABLES IN SCHEMA s, TABLE s.t WHERE (x > 10)",
                            "ALTER PUBLICATION schema ADD TABLE part WHERE (x > 10)");
            replication.with(setup -> setup.publications = List.of("filtered", "schema"));
            replication.applyUntilNow();
            assertEquals(List.of("(20)"), replication.target().rows("part"));
            replication.source().execute("INSERT INTO s.parted VALUES (2), (25)");
            copyAndInsertCarryAll(replication, "s.t");
            assertEquals(List.of("(20)", "(25)"), replication.target().rows("part"));
        }
    }

    private static void copyAndInsertCarryAll(Replication replication, String table) {
        try (EngineRun run = replication.engine()) {
            replication.awaitApplied();
            replication.assertIdentical(table);
            assertEquals(5, replication.target().count(table));
            replication.source().execute("INSERT INTO " + table + " VALUES (8), (26)");
            replication.awaitApplied();
            replication.assertIdentical(table);
            run.assertRunning();
        }
    }

    private static final String[] PARTED = {
        "CREATE TABLE parted (a int PRIMARY KEY, b int) PARTITION BY RANGE (a)",
        "CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (10000)",
        "CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (10000) TO (MAXVALUE)",
    };

    /// 028_row_filter: #199, #208
    @Test
    void filterOfTheLeafCountsUntilTheRootIsPublished() {
        try (Replication replication = Replication.newest()) {
            replication.both(PARTED);
            replication
                    .source()
                    .execute(
                            "INSERT INTO parted SELECT g, g FROM unnest(ARRAY[1, 4000, 7000, 12000, 16000]) g",
                            "CREATE PUBLICATION p FOR TABLE parted",
                            "ALTER PUBLICATION p ADD TABLE parted_low WHERE (a < 6000)");
            replication.with(setup -> setup.publications = List.of("p")).applyUntilNow();
            assertEquals(List.of("(1,1)", "(4000,4000)"), replication.target().rows("parted_low"));
            assertEquals(
                    List.of("(12000,12000)", "(16000,16000)"),
                    replication.target().rows("parted_high"));
            replication.source().execute("INSERT INTO parted VALUES (5000, 0), (6500, 0), (13000, 0)");
            replication.applyUntilNow();
            assertEquals(3, replication.target().count("parted_low"));
            assertEquals(3, replication.target().count("parted_high"));

            replication
                    .source()
                    .execute(
                            "TRUNCATE parted",
                            "INSERT INTO parted SELECT g, g FROM unnest(ARRAY[1, 2, 4000, 7000, 13000]) g",
                            "DROP PUBLICATION p",
                            "CREATE PUBLICATION p FOR TABLE parted WHERE (a < 5000), parted_high WHERE (a > 15000)"
                                    + " WITH (publish_via_partition_root = true)");
            replication.with(setup -> setup.targetRows = TargetRows.TRUNCATE);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(
                        List.of("(1,1)", "(2,2)", "(4000,4000)"),
                        replication.target().rows("parted"));
                replication
                        .source()
                        .execute(
                                "INSERT INTO parted VALUES (4001, 30), (4500, 0), (6000, 0), (16000, 0)",
                                "UPDATE parted SET a = 4002, b = 31 WHERE a = 4001",
                                "DELETE FROM parted_low WHERE a = 2",
                                "UPDATE parted SET a = 17000 WHERE a = 4500",
                                "UPDATE parted SET a = 3 WHERE a = 7000");
                replication.awaitApplied();
                assertEquals(
                        replication.source().rows("parted WHERE a < 5000"),
                        replication.target().rows("parted"));
                assertEquals(
                        List.of("(1,1)", "(3,7000)", "(4000,4000)", "(4002,31)"),
                        replication.target().rows("parted"));
                run.assertRunning();
            }
        }
    }

    /// 028_row_filter: #200, #203, #210
    @Test
    void topmostPublishedAncestorDecides() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE plain (a int PRIMARY KEY) PARTITION BY RANGE (a)",
                    "CREATE TABLE plain_leaf PARTITION OF plain DEFAULT",
                    "CREATE TABLE root (a int PRIMARY KEY) PARTITION BY RANGE (a)",
                    "CREATE TABLE root_leaf PARTITION OF root FOR VALUES FROM (1) TO (20)",
                    "CREATE TABLE top (a int PRIMARY KEY) PARTITION BY RANGE (a)");
            replication
                    .source()
                    .execute(
                            "CREATE TABLE middle PARTITION OF top DEFAULT PARTITION BY RANGE (a)",
                            "CREATE TABLE bottom PARTITION OF middle DEFAULT",
                            "INSERT INTO plain VALUES (1), (10)",
                            "INSERT INTO root VALUES (14), (15), (16)",
                            "CREATE PUBLICATION plain_a FOR TABLE plain",
                            "CREATE PUBLICATION plain_b FOR TABLE plain_leaf WHERE (a < 5)",
                            "CREATE PUBLICATION root_a FOR TABLE root WHERE (a > 15) WITH (publish_via_partition_root)",
                            "CREATE PUBLICATION root_b FOR TABLE root_leaf WHERE (a < 15)",
                            "CREATE PUBLICATION top_a FOR TABLE middle WHERE (a < 15) WITH (publish_via_partition_root)",
                            "CREATE PUBLICATION top_b FOR TABLE top WHERE (a > 15) WITH (publish_via_partition_root)");
            replication
                    .target()
                    .execute("CREATE TABLE middle (a int PRIMARY KEY)", "CREATE TABLE other PARTITION OF top DEFAULT");
            replication.with(
                    setup -> setup.publications = List.of("plain_a", "plain_b", "root_a", "root_b", "top_a", "top_b"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.assertIdentical("plain_leaf");
                assertEquals(List.of("(16)"), replication.target().rows("root"));
                replication
                        .source()
                        .execute("INSERT INTO top VALUES (14), (15), (16)", "INSERT INTO plain VALUES (11)");
                replication.awaitApplied();
                assertEquals(List.of("(16)"), replication.target().rows("top"));
                assertEquals(0, replication.target().count("middle"));
                replication.assertIdentical("plain_leaf");
                run.assertRunning();
            }
        }
    }

    /// 028_row_filter: #202
    @Test
    void childPublishedThroughItsParentInheritsTheFilter() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE parent (a int)", "CREATE TABLE child (b text) INHERITS (parent)");
            replication
                    .source()
                    .execute(
                            "INSERT INTO parent VALUES (10), (20)",
                            "INSERT INTO child VALUES (0, '0'), (30, '30'), (40, '40')",
                            "CREATE PUBLICATION p FOR TABLE parent WHERE (a > 15)");
            replication.with(setup -> setup.publications = List.of("p"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(
                        List.of("(20)", "(30)", "(40)"), replication.target().rows("parent"));
                replication
                        .source()
                        .execute(
                                "INSERT INTO parent VALUES (14), (16)",
                                "INSERT INTO child VALUES (13, '13'), (17, '17')");
                replication.awaitApplied();
                assertEquals(
                        replication.source().rows("ONLY parent WHERE a > 15"),
                        replication.target().rows("ONLY parent"));
                assertEquals(
                        replication.source().rows("child WHERE a > 15"),
                        replication.target().rows("child"));
                run.assertRunning();
            }
        }
    }
}
