package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// 025_rep_changes_for_schema: publications of whole schemas, and tables that enter and leave them.
final class SchemaPublications025IT {

    private static final String[] TABLES = {
        "CREATE SCHEMA sch1",
        "CREATE TABLE sch1.tab1 (a int)",
        "CREATE TABLE sch1.\"tab 2\" (a int)",
        "CREATE TABLE sch1.root (a int PRIMARY KEY, b int) PARTITION BY LIST (a)",
        "CREATE TABLE public.leaf1 PARTITION OF sch1.root FOR VALUES IN (1, 2, 3)",
        "CREATE TABLE public.leaf2 PARTITION OF sch1.root FOR VALUES IN (4, 5, 6)",
    };

    /// 025_rep_changes_for_schema: #173, #174, #178
    @Test
    void schemaCarriesTheLeavesOfItsPartitionedTables() {
        try (Replication replication = replication()) {
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.assertIdentical();
                replication
                        .source()
                        .execute(
                                "INSERT INTO sch1.tab1 SELECT generate_series(11, 20)",
                                "INSERT INTO sch1.\"tab 2\" SELECT generate_series(11, 20)",
                                "INSERT INTO sch1.root VALUES (2, 20), (5, 50)",
                                "UPDATE sch1.root SET a = 6 WHERE a = 1");
                replication.awaitApplied();
                replication.assertIdentical();
                replication
                        .source()
                        .execute(
                                "INSERT INTO sch1.tab1 VALUES (21)",
                                "ALTER PUBLICATION p DROP TABLES IN SCHEMA sch1",
                                "INSERT INTO sch1.tab1 VALUES (22)",
                                "INSERT INTO sch1.root VALUES (3, 30)");
                replication.awaitApplied();
                assertEquals(Optional.of("21"), replication.target().query("SELECT max(a) FROM sch1.tab1"));
                assertEquals(4, replication.target().count("sch1.root"));
                run.assertRunning();
            }
        }
    }

    /// 025_rep_changes_for_schema: #175, #176, #177
    @Test
    void tablesEnterAndLeaveAPublishedSchema() {
        try (Replication replication = replication()) {
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.both("CREATE TABLE sch1.tab3 (a int)");
                replication.source().execute("INSERT INTO sch1.tab3 SELECT generate_series(1, 11)");
                replication.awaitApplied();
                replication.assertIdentical("sch1.tab3");
                replication.source().execute("ALTER TABLE sch1.tab3 SET SCHEMA public", "INSERT INTO tab3 VALUES (12)");
                replication.awaitApplied();
                assertEquals(11, replication.target().count("sch1.tab3"));
                run.assertRunning();
            }
            replication.source().execute("DROP TABLE sch1.\"tab 2\"");
            assertEquals("READY", state(replication, "tab3"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals("STOPPED", state(replication, "tab3"));
                assertEquals("STOPPED", state(replication, "tab 2"));
                assertEquals("READY", state(replication, "tab1"));
                for (String table : List.of("sch1.tab3", "sch1.tab 2")) {
                    assertTrue(
                            run.events(EngineEvent.Warning.class).stream()
                                    .anyMatch(warning ->
                                            warning.message().startsWith("table " + table + " is no longer published")),
                            table);
                }
            }
            assertEquals(10, replication.target().count("sch1.\"tab 2\""));
        }
    }

    private static String state(Replication replication, String table) {
        return replication
                .target()
                .query("SELECT state FROM pgapply.table_state WHERE subscription = '" + replication.name()
                        + "' AND schema_name = 'sch1' AND table_name = '" + table + "'")
                .orElseThrow();
    }

    private static Replication replication() {
        Replication replication = Replication.newest();
        replication.both(TABLES);
        replication
                .source()
                .execute(
                        "INSERT INTO sch1.tab1 SELECT generate_series(1, 10)",
                        "INSERT INTO sch1.\"tab 2\" SELECT generate_series(1, 10)",
                        "INSERT INTO sch1.root VALUES (1, 10), (4, 40)",
                        "CREATE PUBLICATION p FOR TABLES IN SCHEMA sch1");
        return replication.with(setup -> setup.publications = List.of("p"));
    }
}
