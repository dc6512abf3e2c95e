package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.ReplicationOrigins;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// 027_nosuperuser: the statements of `docs/privileges.md` are what two ordinary roles need, no more and no
/// less.
final class Privileges027IT {

    private static final String[] TABLES = {
        "CREATE SCHEMA sales", "CREATE TABLE sales.t (id int PRIMARY KEY, v text)", "CREATE TABLE sales.log (v text)",
    };

    private static final String ORIGINS_WARNING = "may not use replication origins";

    /// 027_nosuperuser: #187
    @ParameterizedTest
    @CsvSource({"18, 18", "14, 14", "13, 13", "10, 10"})
    void whatTheDocumentGrantsIsEnough(int sourceMajor, int targetMajor) {
        try (Replication replication = Replication.between(sourceMajor, targetMajor)) {
            replication.both(TABLES);
            boolean origins = targetMajor >= 14;
            replication
                    .source()
                    .execute("INSERT INTO sales.t VALUES (1, 'a'), (2, 'b')", "INSERT INTO sales.log VALUES ('x')");
            asOrdinaryRoles(replication, document("Source"), targetStatements(targetMajor));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute(
                                "INSERT INTO sales.t VALUES (3, 'c')",
                                "UPDATE sales.t SET v = 'd' WHERE id = 1",
                                "DELETE FROM sales.t WHERE id = 2",
                                "INSERT INTO sales.log VALUES ('y'), ('y')");
                if (sourceMajor >= 11) {
                    replication.source().execute("TRUNCATE sales.log", "INSERT INTO sales.log VALUES ('z')");
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(!origins, warnsOfOrigins(run));
                assertTrue(replication.progress().isValid(), "progress is stored");
                run.assertRunning();
            }
            replication.source().execute("INSERT INTO sales.log VALUES ('again')");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// 027_nosuperuser: #185; 033_run_as_table_owner: #256
    @Test
    void superuserWritesTheTablesOfOthers() {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            replication
                    .target()
                    .execute(
                            "CREATE ROLE " + replication.name() + "_owner",
                            "ALTER TABLE sales.t OWNER TO " + replication.name() + "_owner");
            replication.source().execute("INSERT INTO sales.t VALUES (1, 'a'), (2, 'b')");
            replication.applyUntilNow();
            replication
                    .source()
                    .execute(
                            "INSERT INTO sales.t VALUES (5, 'e')",
                            "UPDATE sales.t SET id = 7 WHERE id = 1",
                            "DELETE FROM sales.t WHERE id = 2");
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(2, replication.target().count("sales.t"));
        }
    }

    /// 027_nosuperuser: #187, tables that are partitioned in different ways
    @Test
    void partitionsAreWrittenWithTheRightsOnTheirRoot() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE SCHEMA sales", "CREATE TABLE sales.p (i int PRIMARY KEY, v text) PARTITION BY HASH (i)");
            for (int i = 0; i < 2; i++) {
                replication
                        .source()
                        .execute("CREATE TABLE sales.p_" + i
                                + " PARTITION OF sales.p FOR VALUES WITH (MODULUS 2, REMAINDER " + i + ")");
            }
            replication.target().execute("CREATE SCHEMA hidden");
            for (int i = 0; i < 3; i++) {
                replication
                        .target()
                        .execute("CREATE TABLE hidden.p_" + i
                                + " PARTITION OF sales.p FOR VALUES WITH (MODULUS 3, REMAINDER " + i + ")");
            }
            replication.source().execute("INSERT INTO sales.p VALUES (1, 'a'), (2, 'b'), (3, 'c')");
            List<String> source = new ArrayList<>(document("Source"));
            source.replaceAll(
                    sql -> sql.replace("FOR ALL TABLES", "FOR TABLE sales.p WITH (publish_via_partition_root = true)"));
            asOrdinaryRoles(replication, source, targetStatements(18));
            replication.applyUntilNow();
            replication
                    .source()
                    .execute(
                            "UPDATE sales.p SET i = i + 10 WHERE i = 1", "UPDATE sales.p SET v = 'z' WHERE i = 2",
                            "DELETE FROM sales.p WHERE i = 3", "INSERT INTO sales.p VALUES (4, 'd')");
            replication.applyUntilNow();
            replication.assertIdentical("sales.p");
        }
    }

    /// 027_nosuperuser: each statement is needed
    @ParameterizedTest
    @ValueSource(
            strings = {
                "REPLICATION",
                "GRANT USAGE ON SCHEMA sales TO pgapply_source",
                "GRANT SELECT ON ALL TABLES IN SCHEMA sales TO pgapply_source",
                "CREATE PUBLICATION",
                "GRANT SET ON PARAMETER",
                "CREATE SCHEMA pgapply",
                "GRANT USAGE ON SCHEMA sales TO pgapply_target",
                "SELECT, ",
                "INSERT, ",
            })
    void nothingOfItIsSuperfluous(String leftOut) {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            replication.source().execute("INSERT INTO sales.t VALUES (1, 'a')");
            asOrdinaryRoles(replication, without(document("Source"), leftOut), without(targetStatements(18), leftOut));
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code(), refused::getMessage);
                assertFalse(refused.hint().isEmpty(), refused::getMessage);
            }
            assertEquals(0, replication.target().count("sales.t"));
        }
    }

    @Test
    void theDocumentNamesTheFunctionsThatAreCalled() {
        String grant = targetStatements(18).stream()
                .filter(sql -> sql.startsWith("GRANT EXECUTE"))
                .findFirst()
                .orElseThrow();
        assertEquals(ReplicationOrigins.grants("r"), grant.replace("pgapply_target", "\"r\"") + ";");
    }

    /// 027_nosuperuser: #186, #189, #190; 033_run_as_table_owner: #257
    @Test
    void rightTakenAwayStopsTheRunAndOneGivenBackLetsItGoOn() {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            replication.source().execute("INSERT INTO sales.t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
            asOrdinaryRoles(replication, document("Source"), targetStatements(18));
            replication.applyUntilNow();
            String role = targetRole(replication);
            record Case(String privileges, String change) {}
            for (Case one : List.of(
                    new Case("INSERT", "INSERT INTO sales.t VALUES (4, 'd')"),
                    new Case("UPDATE", "UPDATE sales.t SET v = 'x' WHERE id = 1"),
                    new Case("DELETE", "DELETE FROM sales.t WHERE id = 2"),
                    new Case("TRUNCATE", "TRUNCATE sales.log"),
                    new Case("SELECT", "UPDATE sales.t SET v = 'y' WHERE id = 1"))) {
                replication
                        .target()
                        .execute("REVOKE " + one.privileges() + " ON ALL TABLES IN SCHEMA sales FROM " + role);
                replication.source().execute(one.change());
                try (EngineRun run = replication.engine()) {
                    ApplyException refused = run.awaitFailure();
                    assertEquals(ErrorCode.SETUP, refused.code());
                    assertTrue(String.valueOf(refused.getMessage()).contains("permission denied"), refused::getMessage);
                }
                replication.target().execute("GRANT " + one.privileges() + " ON ALL TABLES IN SCHEMA sales TO " + role);
                replication.applyUntilNow();
                replication.assertIdentical();
            }
            replication.target().execute("REVOKE SELECT ON ALL TABLES IN SCHEMA sales FROM " + role);
            replication.source().execute("INSERT INTO sales.t VALUES (5, 'e')", "INSERT INTO sales.log VALUES ('e')");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// 027_nosuperuser: #188
    @Test
    void rowLevelSecurityIsNamedAndNeverFilters() {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            asOrdinaryRoles(replication, document("Source"), targetStatements(18));
            replication.applyUntilNow();
            replication
                    .target()
                    .execute(
                            "ALTER TABLE sales.t OWNER TO " + targetRole(replication),
                            "ALTER TABLE sales.t ENABLE ROW LEVEL SECURITY",
                            "ALTER TABLE sales.t FORCE ROW LEVEL SECURITY");
            replication.source().execute("INSERT INTO sales.t VALUES (1, 'a')");
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
                assertTrue(String.valueOf(refused.getMessage()).contains("row-level security"), refused::getMessage);
            }
            replication.target().execute("ALTER TABLE sales.t NO FORCE ROW LEVEL SECURITY");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.assertIdentical();
                replication.target().execute("ALTER TABLE sales.t FORCE ROW LEVEL SECURITY");
                replication.source().execute("UPDATE sales.t SET v = 'b'");
                assertEquals(ErrorCode.SETUP, run.awaitFailure().code());
            }
            replication.target().execute("ALTER TABLE sales.t NO FORCE ROW LEVEL SECURITY");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    @Test
    void progressGoesOnWithoutOriginsAndOnceTheyAreGranted() {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            replication.source().execute("INSERT INTO sales.log VALUES ('copied')");
            asOrdinaryRoles(replication, document("Source"), without(targetStatements(18), "GRANT EXECUTE"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO sales.log VALUES ('row')");
                replication.awaitApplied();
                assertTrue(warnsOfOrigins(run), "the warning");
                run.assertRunning();
            }
            replication.source().execute("INSERT INTO sales.log VALUES ('row again')");
            replication.applyUntilNow();
            replication.assertIdentical();

            replication.target().execute(ReplicationOrigins.grants(targetRole(replication)));
            replication.source().execute("INSERT INTO sales.log VALUES ('origin')");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertFalse(warnsOfOrigins(run), "no warning");
                run.assertRunning();
            }
            replication.assertIdentical();
            assertTrue(replication.progress().isValid());
        }
    }

    /// 027_nosuperuser: #191
    @Test
    void roleThatLosesItsOriginIsRefusedInsteadOfBeginningAnew() {
        try (Replication replication = Replication.newest()) {
            replication.both(TABLES);
            asOrdinaryRoles(replication, document("Source"), without(targetStatements(18), "GRANT EXECUTE"));
            String role = targetRole(replication);
            replication.target().execute("ALTER ROLE " + role + " SUPERUSER");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO sales.log VALUES ('a')");
                replication.awaitApplied();
                replication.target().execute("ALTER ROLE " + role + " NOSUPERUSER");
                replication.source().execute("INSERT INTO sales.log VALUES ('b')");
                assertEquals(ErrorCode.SETUP, run.awaitFailure().code());
            }
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
                assertTrue(refused.hint().contains("pg_replication_origin_session_setup"), refused::hint);
                replication
                        .target()
                        .execute(refused.hint().substring(refused.hint().indexOf("GRANT")));
            }
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    private static boolean warnsOfOrigins(EngineRun run) {
        return run.events(EngineEvent.Warning.class).stream()
                .anyMatch(warning -> warning.message().contains(ORIGINS_WARNING));
    }

    private static String targetRole(Replication replication) {
        return replication.name() + "_target";
    }

    /// Makes the two roles with the document's statements, and has the engine use them.
    private static void asOrdinaryRoles(Replication replication, List<String> source, List<String> target) {
        UnaryOperator<String> names = sql -> sql.replace("pgapply_source", replication.name() + "_source")
                .replace("pgapply_target", targetRole(replication))
                .replace("pgapply_default", "pgapply_" + replication.name());
        replication.source().execute(source.stream().map(names).toArray(String[]::new));
        replication.target().execute(target.stream().map(names).toArray(String[]::new));
        replication.with(setup -> {
            setup.sourceEndpoint = endpoint -> as(endpoint, replication.name() + "_source");
            setup.targetEndpoint = endpoint -> as(endpoint, targetRole(replication));
        });
    }

    private static PostgresEndpoint as(PostgresEndpoint superuser, String role) {
        return new PostgresEndpoint(
                superuser.hosts(), superuser.database(), role, () -> Optional.of("secret"), superuser.parameters());
    }

    private static List<String> targetStatements(int major) {
        List<String> statements = new ArrayList<>(document("Target, PostgreSQL 15 and newer"));
        if (major < 15) {
            statements.removeIf(sql -> sql.startsWith("GRANT SET ON PARAMETER"));
            statements.addAll(document("Target, PostgreSQL 14 and older"));
        }
        if (major < 14) {
            statements.removeIf(sql -> sql.startsWith("GRANT EXECUTE"));
        }
        return statements;
    }

    /// Without the statement that begins so, or without this word of a longer one.
    private static List<String> without(List<String> statements, String leftOut) {
        return statements.stream()
                .filter(sql -> !sql.startsWith(leftOut))
                .map(sql -> sql.startsWith("GRANT SELECT, ") || sql.startsWith("CREATE ROLE pgapply_source")
                        ? sql.replace(leftOut, "")
                        : sql)
                .toList();
    }

    /// The statements of the section's SQL block.
    private static List<String> document(String section) {
        Path document = Path.of(System.getProperty("pgapply.launcher")).resolveSibling("docs/privileges.md");
        try {
            String text = Files.readString(document);
            int heading = text.indexOf("## " + section + "\n");
            int start = text.indexOf("```sql\n", heading) + "```sql\n".length();
            assertTrue(heading >= 0 && start > heading, section);
            String block = text.substring(start, text.indexOf("```", start));
            return List.of(block.strip().split(";\\n?"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
