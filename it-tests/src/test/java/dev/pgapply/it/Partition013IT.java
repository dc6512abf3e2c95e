package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.conflict.ConflictType;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 013_partition: partitioned tables, published as their leaves or as their root, into tables that are
/// partitioned otherwise or not at all.
final class Partition013IT {

    private static final String[] SOURCE_LEAVES = {
        "CREATE TABLE tab1 (a int PRIMARY KEY, b text) PARTITION BY LIST (a)",
        "CREATE TABLE tab1_1 (b text, a int NOT NULL)",
        "ALTER TABLE tab1 ATTACH PARTITION tab1_1 FOR VALUES IN (1, 2, 3)",
        "CREATE TABLE tab1_2 PARTITION OF tab1 FOR VALUES IN (4, 5, 6)",
        "CREATE TABLE tab1_def PARTITION OF tab1 DEFAULT",
        "CREATE PUBLICATION pub1",
        "ALTER PUBLICATION pub1 ADD TABLE tab1, tab1_1",
        "CREATE PUBLICATION pub_all FOR ALL TABLES"
    };

    /// The same leaves, one of them partitioned again, with columns in another order and one more.
    private static final String[] OTHER_TREE = {
        "CREATE TABLE tab1 (c text, a int PRIMARY KEY, b text) PARTITION BY LIST (a)",
        "CREATE TABLE tab1_1 (b text, c text DEFAULT 'sub1_tab1', a int NOT NULL)",
        "ALTER TABLE tab1 ATTACH PARTITION tab1_1 FOR VALUES IN (1, 2, 3)",
        "CREATE TABLE tab1_2 PARTITION OF tab1 (c DEFAULT 'sub1_tab1') FOR VALUES IN (4, 5, 6) PARTITION BY LIST (a)",
        "CREATE TABLE tab1_2_1 (c text, b text, a int NOT NULL)",
        "ALTER TABLE tab1_2 ATTACH PARTITION tab1_2_1 FOR VALUES IN (5)",
        "CREATE TABLE tab1_2_2 PARTITION OF tab1_2 FOR VALUES IN (4, 6)",
        "CREATE TABLE tab1_def PARTITION OF tab1 (c DEFAULT 'sub1_tab1') DEFAULT",
        "CREATE TABLE log (n int GENERATED ALWAYS AS IDENTITY, what text)",
        """
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO public.log (what) VALUES (concat_ws(' ', TG_OP, OLD.a, NEW.a));
            RETURN NULL;
        END $$
        """,
        "CREATE TRIGGER note AFTER INSERT OR UPDATE ON tab1_2_2 FOR EACH ROW EXECUTE FUNCTION note()",
        "ALTER TABLE tab1_2_2 ENABLE REPLICA TRIGGER note"
    };

    /// Plain tables that are called as the leaves are.
    private static final String[] PLAIN_TABLES = {
        "CREATE TABLE tab1 (a int PRIMARY KEY, c text DEFAULT 'sub2_tab1', b text)",
        "CREATE TABLE tab1_1 (a int PRIMARY KEY, b text, c text DEFAULT 'sub2_tab1_1')",
        "CREATE TABLE tab1_2 (a int PRIMARY KEY, c text DEFAULT 'sub2_tab1_2', b text)",
        "CREATE TABLE tab1_def (a int PRIMARY KEY, b text, c text DEFAULT 'sub2_tab1_def')"
    };

    private static final String[] LEAVES = {"tab1_1", "tab1_2", "tab1_def"};

    /// 013_partition: #88, #89, #90, #91, #92, #93, #94, #95
    @Test
    void leavesAreFollowedIntoAnotherTreeAndIntoPlainTables() {
        try (Replication first = Replication.newest().with(setup -> setup.publications = List.of("pub1"));
                TestDatabase plain = first.target().server().database();
                Replication second = Replication.besides(first.source(), plain)
                        .with(setup -> setup.publications = List.of("pub_all"))) {
            first.source().execute(SOURCE_LEAVES);
            first.target().execute(OTHER_TREE);
            plain.execute(PLAIN_TABLES);
            first.source().execute("INSERT INTO tab1 VALUES (0)");
            try (EngineRun one = first.engine();
                    EngineRun other = second.engine()) {
                bothHave(first, second);
                first.source()
                        .execute(
                                "INSERT INTO tab1 VALUES (1)",
                                "INSERT INTO tab1_1 (a) VALUES (3)",
                                "INSERT INTO tab1_2 VALUES (5)");
                bothHave(first, second);
                assertEquals(
                        List.of("0 sub1_tab1", "1 sub1_tab1", "3 sub1_tab1", "5 sub1_tab1"),
                        first.target().queryAll("SELECT concat_ws(' ', a, c) FROM tab1 ORDER BY a"));
                assertEquals(List.of("5"), first.target().queryAll("SELECT a FROM tab1_2_1"));
                assertEquals(
                        List.of("1 sub2_tab1_1", "3 sub2_tab1_1", "5 sub2_tab1_2", "0 sub2_tab1_def"), leafRows(plain));
                assertEquals(0, plain.count("tab1"));

                // From one sub-partition of the target into another one, and within the latter.
                first.source()
                        .execute(
                                "UPDATE tab1 SET a = 6 WHERE a = 5",
                                "UPDATE tab1 SET a = 4 WHERE a = 6",
                                "UPDATE tab1 SET a = 6 WHERE a = 4");
                bothHave(first, second);
                assertEquals(
                        List.of("INSERT 6", "UPDATE 6 4", "UPDATE 4 6"),
                        first.target().queryAll("SELECT what FROM log ORDER BY n"));

                // From one partition of the source into another one: a delete and an insert.
                first.source()
                        .execute("UPDATE tab1 SET a = 2 WHERE a = 0", "UPDATE tab1 SET a = 4, b = 'moved' WHERE a = 1");
                bothHave(first, second);
                assertEquals(List.of("2", "3"), first.target().queryAll("SELECT a FROM tab1_1 ORDER BY a"));

                first.source().execute("DELETE FROM tab1 WHERE a IN (2, 3, 5)", "DELETE FROM tab1_2");
                bothHave(first, second);
                assertEquals(0, first.target().count("tab1"));

                first.source().execute("INSERT INTO tab1 VALUES (1), (2), (5), (0)");
                bothHave(first, second);
                first.source().execute("TRUNCATE tab1_2");
                bothHave(first, second);
                assertEquals(List.of("0", "1", "2"), first.target().queryAll("SELECT a FROM tab1 ORDER BY a"));

                plain.execute("INSERT INTO tab1 VALUES (77)");
                first.source().execute("TRUNCATE tab1");
                bothHave(first, second);
                assertEquals(0, first.target().count("tab1"));
                // Only leaves are named by the source.
                assertEquals(List.of("77"), plain.queryAll("SELECT a FROM tab1"));
                one.assertRunning();
                other.assertRunning();
            }
        }
    }

    private static void bothHave(Replication first, Replication second) {
        first.awaitSeen();
        second.awaitSeen();
        first.assertIdentical(LEAVES);
        second.assertIdentical(LEAVES);
    }

    private static List<String> leafRows(TestDatabase database) {
        return database.queryAll("SELECT concat_ws(' ', a, c) FROM (SELECT 1 AS n, a, c FROM tab1_1"
                + " UNION ALL SELECT 2, a, c FROM tab1_2 UNION ALL SELECT 3, a, c FROM tab1_def) AS x ORDER BY n, a");
    }

    /// 013_partition: #96
    ///
    /// A row that is missing is reported under the name that the source gives, not that of the target's
    /// partition.
    @Test
    void rowsMissingInAPartitionAreReported() {
        try (Replication replication = Replication.newest().with(setup -> setup.publications = List.of("pub1"))) {
            replication.source().execute(SOURCE_LEAVES);
            replication.target().execute(OTHER_TREE);
            replication.source().execute("INSERT INTO tab1 VALUES (1, 'one'), (4, 'four'), (10, 'ten'), (5, 'five')");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.target().execute("DELETE FROM tab1 WHERE a <> 5");
                replication
                        .source()
                        .execute(
                                "UPDATE tab1 SET b = 'quatre' WHERE a = 4",
                                "UPDATE tab1 SET b = 'cinq' WHERE a = 5",
                                "DELETE FROM tab1 WHERE a <> 5");
                replication.awaitSeen();
                assertEquals(
                        List.of(
                                "tab1_2 " + ConflictType.UPDATE_MISSING,
                                "tab1_1 " + ConflictType.DELETE_MISSING,
                                "tab1_2 " + ConflictType.DELETE_MISSING,
                                "tab1_def " + ConflictType.DELETE_MISSING),
                        skipped(run));
                replication.assertIdentical(LEAVES);
            }
        }
    }

    private static List<String> skipped(EngineRun run) {
        return run.events(EngineEvent.ConflictSkipped.class).stream()
                .map(event -> event.table().name() + " " + event.type())
                .toList();
    }

    private static final String[] SOURCE_ROOTS = {
        "CREATE TABLE tab2 (a int PRIMARY KEY, b text) PARTITION BY LIST (a)",
        "CREATE TABLE tab2_1 (b text, a int NOT NULL)",
        "ALTER TABLE tab2 ATTACH PARTITION tab2_1 FOR VALUES IN (0, 1, 2, 3)",
        "CREATE TABLE tab2_2 PARTITION OF tab2 FOR VALUES IN (5, 6)",
        "CREATE TABLE tab3 (a int PRIMARY KEY, b text) PARTITION BY LIST (a)",
        "CREATE TABLE tab3_1 PARTITION OF tab3 FOR VALUES IN (0, 1, 2, 3, 5, 6)",
        "CREATE TABLE tab4 (a int PRIMARY KEY) PARTITION BY LIST (a)",
        "CREATE TABLE tab4_1 PARTITION OF tab4 FOR VALUES IN (-1, 0, 1) PARTITION BY LIST (a)",
        "CREATE TABLE tab4_1_1 PARTITION OF tab4_1 FOR VALUES IN (-1, 0, 1)"
    };

    /// 013_partition: #97, #98, #101, #102, #103, #104, #105
    @Test
    void rootsAreFollowedIntoOtherTrees() {
        try (Replication replication = Replication.newest().with(setup -> setup.publications = List.of("via_root"))) {
            replication.source().execute(SOURCE_ROOTS);
            replication
                    .source()
                    .execute(
                            "INSERT INTO tab2 VALUES (0, 'zero'), (1, 'one')",
                            "INSERT INTO tab3 VALUES (1, 'one')",
                            "CREATE PUBLICATION via_root FOR TABLE tab2, tab2_1, tab3_1 WITH (publish_via_partition_root = true)");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE tab2 (b text, c text DEFAULT 'own', a int PRIMARY KEY) PARTITION BY HASH (a)",
                            "CREATE TABLE tab2_part1 (b text, c text, a int NOT NULL)",
                            "ALTER TABLE tab2 ATTACH PARTITION tab2_part1 FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
                            "CREATE TABLE tab2_part2 PARTITION OF tab2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                            "CREATE TABLE tab3_1 (c text DEFAULT 'own', b text, a int PRIMARY KEY)");
            try (EngineRun run = replication.engine()) {
                rootsAreHere(replication);
                replication
                        .source()
                        .execute(
                                "INSERT INTO tab2 VALUES (3, 'three'), (5, 'five')",
                                "INSERT INTO tab3 VALUES (3, 'three'), (5, 'five')");
                rootsAreHere(replication);
                assertEquals(
                        List.of("own"),
                        replication
                                .target()
                                .queryAll("SELECT DISTINCT c FROM (SELECT c FROM tab2 UNION ALL"
                                        + " SELECT c FROM tab3_1) AS x"));

                // Across the partitions of the source, of the target, and of both.
                replication
                        .source()
                        .execute(
                                "UPDATE tab2 SET a = 6 WHERE a = 5",
                                "UPDATE tab2 SET a = 2 WHERE a = 6",
                                "UPDATE tab2 SET b = upper(b) WHERE a = 3",
                                "UPDATE tab3 SET a = 6 WHERE a = 5");
                rootsAreHere(replication);
                assertEquals(
                        List.of("0", "1", "2", "3"), replication.target().queryAll("SELECT a FROM tab2 ORDER BY a"));

                replication.source().execute("DELETE FROM tab2 WHERE a = 0", "DELETE FROM tab3 WHERE a = 1");
                rootsAreHere(replication);

                // A leaf that is published as its root is emptied at the source alone.
                replication.source().execute("TRUNCATE tab2_1");
                replication.awaitSeen();
                assertEquals(List.of("1", "2", "3"), replication.target().queryAll("SELECT a FROM tab2 ORDER BY a"));
                replication.source().execute("TRUNCATE tab2, tab3_1");
                rootsAreHere(replication);
                assertEquals(0, replication.target().count("tab2"));

                // Root and leaf have their columns in different orders from here on.
                replication.target().execute("ALTER TABLE tab2 DROP COLUMN c", "ALTER TABLE tab2 ADD COLUMN c text");
                replication
                        .source()
                        .execute(
                                "ALTER TABLE tab2 DROP COLUMN b",
                                "ALTER TABLE tab2 ADD COLUMN c text DEFAULT 'in tab2', ADD COLUMN b text",
                                "INSERT INTO tab2 (a, b) VALUES (1, 'one'), (5, 'five')",
                                "UPDATE tab2 SET b = 'eins' WHERE a = 1");
                rootsAreHere(replication);
                assertEquals(
                        List.of("1 in tab2 eins", "5 in tab2 five"),
                        replication.target().queryAll("SELECT concat_ws(' ', a, c, b) FROM tab2 ORDER BY a"));
                run.assertRunning();
            }
        }
    }

    private static void rootsAreHere(Replication replication) {
        replication.awaitSeen();
        replication.assertIdentical("tab2", "tab3_1");
    }

    /// 013_partition: #99, #100
    @Test
    void theTopmostPublishedTableWinsWhateverTheOrderOfThePublications() {
        for (List<String> publications : List.of(List.of("middle", "everything"), List.of("everything", "middle"))) {
            try (Replication replication = Replication.newest().with(setup -> setup.publications = publications)) {
                replication.source().execute(SOURCE_ROOTS);
                replication
                        .source()
                        .execute(
                                "CREATE PUBLICATION middle FOR TABLE tab4_1 WITH (publish_via_partition_root = true)",
                                "CREATE PUBLICATION everything FOR ALL TABLES WITH (publish_via_partition_root = true)",
                                "INSERT INTO tab4 VALUES (-1)");
                replication
                        .target()
                        .execute(
                                "CREATE TABLE tab2 (a int PRIMARY KEY, b text)",
                                "CREATE TABLE tab3 (a int PRIMARY KEY, b text)",
                                "CREATE TABLE tab4 (a int PRIMARY KEY)",
                                "CREATE TABLE tab4_1 (a int PRIMARY KEY)");
                try (EngineRun run = replication.engine()) {
                    replication.awaitSeen();
                    replication.source().execute("INSERT INTO tab4 VALUES (0)", "INSERT INTO tab4_1 VALUES (1)");
                    replication.awaitSeen();
                    replication.assertIdentical("tab4");
                    assertEquals(0, replication.target().count("tab4_1"));
                    run.assertRunning();
                }
            }
        }
    }

    /// 013_partition: #106, #107
    ///
    /// A row that the target has changed itself is updated; that it was is not told here.
    @Test
    void rowsMissingUnderARootAreReportedAndLocalOnesUpdated() {
        try (Replication replication = Replication.newest().with(setup -> setup.publications = List.of("via_root"))) {
            replication.source().execute(SOURCE_ROOTS);
            replication
                    .source()
                    .execute(
                            "INSERT INTO tab2 VALUES (0, 'zero'), (1, 'one'), (5, 'five')",
                            "CREATE PUBLICATION via_root FOR TABLE tab2 WITH (publish_via_partition_root = true)");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE tab2 (a int PRIMARY KEY, b text) PARTITION BY LIST (a)",
                            "CREATE TABLE tab2_1 PARTITION OF tab2 FOR VALUES IN (0, 1, 5, 6)");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication
                        .target()
                        .execute("DELETE FROM tab2 WHERE a IN (0, 1)", "UPDATE tab2 SET b = 'mine' WHERE a = 5");
                replication
                        .source()
                        .execute(
                                "UPDATE tab2 SET b = 'null' WHERE a = 0",
                                "DELETE FROM tab2 WHERE a = 1",
                                "UPDATE tab2 SET b = 'cinq' WHERE a = 5");
                replication.awaitSeen();
                assertEquals(
                        List.of("tab2 " + ConflictType.UPDATE_MISSING, "tab2 " + ConflictType.DELETE_MISSING),
                        skipped(run));
                assertEquals(List.of("5 cinq"), replication.target().queryAll("SELECT concat_ws(' ', a, b) FROM tab2"));
            }
        }
    }

    /// 013_partition: #108, #109, #110
    @Test
    void partitionsOfTheTargetMayChangeWhileRowsArrive() {
        try (Replication replication = Replication.newest()) {
            replication
                    .source()
                    .execute(
                            "CREATE TABLE tab5 (a int NOT NULL, b int)",
                            "CREATE UNIQUE INDEX tab5_a_idx ON tab5 (a)",
                            "ALTER TABLE tab5 REPLICA IDENTITY USING INDEX tab5_a_idx",
                            "INSERT INTO tab5 VALUES (1, 1)");
            replication
                    .target()
                    .execute(
                            "CREATE TABLE tab5 (a int NOT NULL, b int, c int) PARTITION BY LIST (a)",
                            "CREATE TABLE tab5_1 PARTITION OF tab5 DEFAULT",
                            "CREATE UNIQUE INDEX tab5_a_idx ON tab5 (a)",
                            "ALTER TABLE tab5 REPLICA IDENTITY USING INDEX tab5_a_idx",
                            "ALTER TABLE tab5_1 REPLICA IDENTITY USING INDEX tab5_1_a_idx");
            String rows = "SELECT concat_ws(' ', a, coalesce(b, -1), coalesce(c, -1)) FROM tab5";
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.source().execute("UPDATE tab5 SET b = 2 WHERE a = 1");
                replication.awaitSeen();
                assertEquals(List.of("1 2 -1"), replication.target().queryAll(rows));

                replication
                        .target()
                        .execute(
                                "ALTER TABLE tab5 DETACH PARTITION tab5_1",
                                "ALTER TABLE tab5_1 DROP COLUMN b",
                                "ALTER TABLE tab5_1 ADD COLUMN b int",
                                "ALTER TABLE tab5 ATTACH PARTITION tab5_1 DEFAULT");
                replication.source().execute("UPDATE tab5 SET a = 2 WHERE a = 1", "UPDATE tab5 SET b = 3 WHERE a = 2");
                replication.awaitSeen();
                assertEquals(List.of("2 3 -1"), replication.target().queryAll(rows));

                replication
                        .source()
                        .execute(
                                "ALTER TABLE tab5 DROP COLUMN b, ADD COLUMN c int",
                                "ALTER TABLE tab5 ADD COLUMN b int",
                                "UPDATE tab5 SET c = 1 WHERE a = 2");
                replication.awaitSeen();
                assertEquals(List.of("2 -1 1"), replication.target().queryAll(rows));

                // Only the partition has an identity, and so the row is looked for by what the source sends.
                replication
                        .target()
                        .execute(
                                "ALTER TABLE tab5 REPLICA IDENTITY NOTHING",
                                "DROP INDEX tab5_a_idx",
                                "CREATE UNIQUE INDEX own ON tab5_1 (a)",
                                "ALTER TABLE tab5_1 REPLICA IDENTITY USING INDEX own");
                replication
                        .source()
                        .execute(
                                "ALTER TABLE tab5 ALTER COLUMN c SET DEFAULT 9",
                                "UPDATE tab5 SET b = 4 WHERE a = 2",
                                "UPDATE tab5 SET a = 3 WHERE a = 2");
                replication.awaitSeen();
                assertEquals(List.of("3 4 1"), replication.target().queryAll(rows));
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
                run.assertRunning();
            }
        }
    }
}
