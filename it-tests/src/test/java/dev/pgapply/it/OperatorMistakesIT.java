package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pgapply.cli.embedded.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What people do wrong before a run can begin. Each mistake has its exit code, one line that names it, and
/// below that line the SQL or the flag that mends it.
final class OperatorMistakesIT {

    private static final Map<String, String> QUICK = Map.of("PGAPPLY_TIER", "1");

    @TempDir
    private Path folder;

    /// A mistake on a source and a target with one table that would work otherwise.
    ///
    /// @param prepare what is wrong in the databases
    /// @param arguments what is wrong on the command line
    /// @param says what the error must hold; `§` is the subscription's name
    private record Mistake(
            String name,
            int exitCode,
            String code,
            Consumer<Replication> prepare,
            Function<Replication, List<String>> arguments,
            List<String> says) {

        @Override
        public String toString() {
            return name;
        }
    }

    private static Mistake arguments(
            String name, int exitCode, String code, Function<Replication, List<String>> arguments, String... says) {
        return new Mistake(name, exitCode, code, replication -> {}, arguments, List.of(says));
    }

    private static Mistake databases(
            String name, int exitCode, String code, Consumer<Replication> prepare, String... says) {
        return new Mistake(name, exitCode, code, prepare, OperatorMistakesIT::job, List.of(says));
    }

    private static List<String> job(Replication replication, String... more) {
        return between(
                replication, replication.source().uri(), replication.target().uri(), more);
    }

    private static List<String> between(Replication replication, String source, String target, String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("run", "--name", replication.name(), "--source", source, "--target", target, "--until", "now"));
        arguments.addAll(List.of(more));
        return arguments;
    }

    private static String as(TestDatabase database, String role) {
        return "postgresql://" + role + "@" + database.server().host() + ":"
                + database.server().port() + "/" + database.name();
    }

    private static String other(TestDatabase database, String name) {
        return new TestDatabase(database.server(), name).uri();
    }

    static Stream<Mistake> mistakes() {
        return Stream.of(usage(), connections(), sources(), slots(), targets()).flatMap(List::stream);
    }

    private static List<Mistake> usage() {
        return List.of(
                arguments(
                        "a URI whose port is no number",
                        2,
                        "USAGE",
                        it -> between(
                                it, "postgresql://db1:port/shop", it.target().uri()),
                        "--source: ",
                        "port"),
                arguments(
                        "an unknown option",
                        2,
                        "USAGE",
                        it -> List.of("run", "--sorce", "x"),
                        "unknown option --sorce; did you mean --source?"),
                arguments(
                        "source and target in one database",
                        2,
                        "USAGE",
                        it -> between(it, it.source().uri(), it.source().uri()),
                        "source and target are the same database",
                        "--target"));
    }

    private static List<Mistake> connections() {
        return List.of(
                arguments(
                        "a source nobody listens at",
                        4,
                        "SOURCE_LOST",
                        it -> between(
                                it,
                                "postgresql://postgres@127.0.0.1:1/shop",
                                it.target().uri()),
                        "postgres@127.0.0.1:1/shop",
                        "host and port"),
                arguments(
                        "a target nobody listens at",
                        5,
                        "TARGET_LOST",
                        it -> between(it, it.source().uri(), "postgresql://postgres@127.0.0.1:1/shop"),
                        "postgres@127.0.0.1:1/shop",
                        "host and port"),
                arguments(
                        "a source whose host has no address",
                        4,
                        "SOURCE_LOST",
                        it -> between(
                                it,
                                "postgresql://postgres@nowhere.invalid/shop",
                                it.target().uri()),
                        "nowhere.invalid"),
                arguments(
                        "a source database that does not exist",
                        4,
                        "SOURCE_REFUSED",
                        it -> between(
                                it, other(it.source(), "nowhere"), it.target().uri()),
                        "database \"nowhere\" does not exist"),
                arguments(
                        "a target database that does not exist",
                        5,
                        "TARGET_REFUSED",
                        it -> between(it, it.source().uri(), other(it.target(), "nowhere")),
                        "database \"nowhere\" does not exist",
                        "CREATE DATABASE"),
                arguments(
                        "a source role that does not exist",
                        4,
                        "SOURCE_REFUSED",
                        it -> between(it, as(it.source(), "nobody"), it.target().uri()),
                        "role \"nobody\" does not exist"));
    }

    private static List<Mistake> sources() {
        return List.of(
                arguments(
                        "a publication that does not exist",
                        3,
                        "SETUP",
                        it -> job(it, "--publication", "Nope"),
                        "publication does not exist: Nope",
                        "CREATE PUBLICATION \"Nope\" FOR ALL TABLES;"),
                new Mistake(
                        "a role that may not replicate",
                        3,
                        "SETUP",
                        it -> it.source().execute("CREATE ROLE " + it.name() + " LOGIN"),
                        it -> between(
                                it, as(it.source(), it.name()), it.target().uri()),
                        List.of("role § may not replicate", "ALTER ROLE \"§\" REPLICATION;")),
                new Mistake(
                        "a role that may not create the publication",
                        3,
                        "SETUP",
                        it -> it.source().execute("CREATE ROLE " + it.name() + " LOGIN REPLICATION"),
                        it -> between(
                                it, as(it.source(), it.name()), it.target().uri()),
                        List.of("creating publication pgapply_§", "CREATE PUBLICATION \"pgapply_§\" FOR ALL TABLES;")),
                new Mistake(
                        "a role that may not read a table",
                        3,
                        "SETUP",
                        it -> it.source()
                                .execute(
                                        "CREATE ROLE " + it.name() + " LOGIN REPLICATION",
                                        "CREATE PUBLICATION p FOR TABLE t"),
                        it -> between(
                                it, as(it.source(), it.name()), it.target().uri(), "--publication", "p"),
                        List.of(
                                "role § needs SELECT on tables public.t",
                                "GRANT SELECT ON TABLE \"public\".\"t\" TO \"§\";")));
    }

    private static List<Mistake> slots() {
        return List.of(
                databases(
                        "a slot of another plugin",
                        3,
                        "SETUP",
                        it -> it.source()
                                .queryAll("SELECT pg_create_logical_replication_slot('pgapply_" + it.name()
                                        + "', 'test_decoding')"),
                        "slot pgapply_§ belongs to plugin test_decoding",
                        "--slot",
                        "pg_drop_replication_slot('pgapply_§')"),
                databases(
                        "a physical slot",
                        3,
                        "SETUP",
                        it -> it.source()
                                .queryAll("SELECT pg_create_physical_replication_slot('pgapply_" + it.name() + "')"),
                        "slot pgapply_§ belongs to plugin none (it is physical)",
                        "--slot"));
    }

    private static List<Mistake> targets() {
        return List.of(
                databases(
                        // B047
                        "a view in the place of a table",
                        3,
                        "SETUP",
                        it -> {
                            it.target().execute("DROP TABLE t", "CREATE VIEW t AS SELECT 1 AS id, 'x' AS v");
                            it.source().execute("CREATE TABLE m (id int)");
                            it.target().execute("CREATE MATERIALIZED VIEW m AS SELECT 1 AS id");
                        },
                        "public.t is no table on the target but a view",
                        "public.m is no table on the target but a materialized view",
                        "ALTER VIEW \"public\".\"t\" RENAME TO",
                        "CREATE TABLE \"public\".\"t\""),
                new Mistake(
                        "row-level security on the target",
                        3,
                        "SETUP",
                        it -> {
                            it.target().execute("ALTER TABLE t ENABLE ROW LEVEL SECURITY");
                            writer(it);
                        },
                        it -> between(it, it.source().uri(), as(it.target(), it.name())),
                        List.of("table public.t of the target has row-level security", "ALTER ROLE \"§\" BYPASSRLS;")),
                new Mistake(
                        "a target role that may not leave triggers out",
                        3,
                        "SETUP",
                        it -> {
                            writer(it);
                            it.target().execute("REVOKE SET ON PARAMETER session_replication_role FROM " + it.name());
                        },
                        it -> between(it, it.source().uri(), as(it.target(), it.name())),
                        List.of("GRANT SET ON PARAMETER session_replication_role TO \"§\";", "--allow-triggers")),
                new Mistake(
                        "a target role that may not write a table",
                        3,
                        "SETUP",
                        it -> {
                            writer(it);
                            it.source().execute("INSERT INTO t VALUES (1, 'x')");
                            it.target().execute("REVOKE INSERT ON t FROM " + it.name());
                        },
                        it -> between(it, it.source().uri(), as(it.target(), it.name())),
                        List.of(
                                "role § needs SELECT, INSERT on tables public.t",
                                "GRANT SELECT, INSERT ON TABLE \"public\".\"t\" TO \"§\";")),
                new Mistake(
                        "a target role that may not create the control schema",
                        3,
                        "SETUP",
                        it -> {
                            writer(it);
                            it.target()
                                    .execute("REVOKE CREATE ON DATABASE "
                                            + it.target().name() + " FROM " + it.name());
                        },
                        it -> between(it, it.source().uri(), as(it.target(), it.name())),
                        List.of("pgapply", "GRANT CREATE ON DATABASE")));
    }

    /// A role of the target that has just what is needed.
    private static void writer(Replication replication) {
        String role = replication.name();
        TestDatabase target = replication.target();
        target.execute(
                "CREATE ROLE " + role + " LOGIN",
                "GRANT CREATE ON DATABASE " + target.name() + " TO " + role,
                "GRANT SET ON PARAMETER session_replication_role TO " + role,
                "GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public TO " + role);
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void aMistakeIsNamedWithWhatMendsIt(Mistake mistake) {
        try (Replication replication = replication()) {
            mistake.prepare().accept(replication);
            try (Launcher run = Launcher.start(mistake.arguments().apply(replication), QUICK)) {
                FailedRun.expect(
                        run,
                        mistake.exitCode(),
                        mistake.code(),
                        mistake.says().stream()
                                .map(text -> text.replace("§", replication.name()))
                                .toArray(String[]::new));
            }
            assertEquals(
                    Optional.of("0"),
                    replication
                            .source()
                            .query("SELECT count(*) FROM pg_replication_slots WHERE plugin = 'pgoutput'"
                                    + " AND database = current_database()"),
                    "nothing is left behind");
        }
    }

    private static Replication replication() {
        Replication replication = Replication.newest();
        replication.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
        return replication;
    }

    private static FailedRun expect(List<String> arguments, int exitCode, String code, String... says) {
        try (Launcher run = Launcher.start(arguments, QUICK)) {
            return FailedRun.expect(run, exitCode, code, says);
        }
    }

    private static void expectDone(List<String> arguments) {
        try (Launcher run = Launcher.start(arguments, QUICK)) {
            assertEquals(0, run.awaitExit(), run::stderr);
        }
    }

    @Test
    void anUnknownKeyOfTheFileIsNamedWithItsLine() throws IOException {
        Path file = Files.writeString(folder.resolve("job.yml"), "name: x\nsource:\n  ulr: postgresql://db1/shop\n");
        expect(
                List.of("run", "--config", file.toString()),
                2,
                "USAGE",
                "source.ulr",
                "job.yml, line 3",
                "did you mean source.url?");
    }

    @Test
    void everythingThatTheTargetLacksIsListedWithTheSqlThatMakesIt() {
        try (Replication replication = replication()) {
            replication
                    .source()
                    .execute(
                            "CREATE SCHEMA \"Sales\"",
                            "CREATE TABLE \"Sales\".\"Order Line\" (\"Order\" bigint, line smallint, price numeric(10,2) NOT NULL,"
                                    + " tags text[], PRIMARY KEY (\"Order\", line))",
                            "INSERT INTO \"Sales\".\"Order Line\" VALUES (1, 1, 1.50, '{a}')",
                            "CREATE TABLE bag (a int, b timestamptz)",
                            "ALTER TABLE t ADD COLUMN extra varchar(20) DEFAULT 'x', ADD COLUMN \"More\" date",
                            "INSERT INTO t VALUES (1, 'v', 'e', '2024-02-29')");
            FailedRun failed = expect(
                    job(replication),
                    3,
                    "SETUP",
                    "table Sales.Order Line does not exist on the target",
                    "table public.bag does not exist on the target",
                    "table public.t of the target lacks extra, More",
                    "CREATE SCHEMA IF NOT EXISTS \"Sales\";",
                    "CREATE TABLE \"Sales\".\"Order Line\" (\"Order\" bigint NOT NULL, \"line\" smallint NOT NULL,"
                            + " \"price\" numeric(10,2) NOT NULL, \"tags\" text[], PRIMARY KEY (\"Order\", \"line\"));",
                    "ALTER TABLE \"public\".\"t\" ADD COLUMN \"extra\" character varying(20), ADD COLUMN \"More\" date;");
            replication.target().execute(failed.sql());
            expectDone(job(replication));
            replication.assertIdentical();
        }
    }

    @Test
    void rowsThatAreThereAlreadyNeedADecision() {
        try (Replication replication = replication()) {
            replication.both("CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t)");
            replication.source().execute("INSERT INTO t VALUES (1, 'source')", "INSERT INTO child VALUES (1, 1)");
            replication.target().execute("INSERT INTO t VALUES (7, 'target')", "INSERT INTO child VALUES (7, 7)");
            expect(
                    job(replication),
                    3,
                    "SETUP",
                    "public.t",
                    "public.child",
                    "--target-rows truncate",
                    "--target-rows keep");
            expectDone(job(replication, "--target-rows", "truncate"));
            replication.assertIdentical();
        }
        try (Replication replication = replication()) {
            replication.source().execute("INSERT INTO t VALUES (1, 'source')");
            replication.target().execute("INSERT INTO t VALUES (7, 'target')");
            expectDone(job(replication, "--target-rows", "keep"));
            assertEquals(
                    List.of("1 source", "7 target"),
                    replication.target().queryAll("SELECT id || ' ' || v FROM t ORDER BY id"));
        }
    }

    @Test
    void aSlotThatSomebodyElseReadsIsNotTakenOverAndNothingIsCopied() {
        try (Replication reader = replication();
                EngineRun run = reader.engine();
                TestDatabase target = reader.target().server().database()) {
            reader.awaitApplied();
            Await.until(
                    "the slot is read",
                    () -> reader.source()
                            .query("SELECT active FROM pg_replication_slots WHERE slot_name = 'pgapply_" + reader.name()
                                    + "'")
                            .equals(Optional.of("t")));
            target.execute("CREATE TABLE t (id int PRIMARY KEY, v text)");
            reader.source().execute("INSERT INTO t VALUES (1, 'x')");
            String slot = "pgapply_" + reader.name();
            List<String> arguments = List.of(
                    "run",
                    "--name",
                    "other",
                    "--source",
                    reader.source().uri(),
                    "--target",
                    target.uri(),
                    "--slot",
                    slot,
                    "--publication",
                    slot,
                    "--slot-wait",
                    "100ms");
            expect(
                    arguments,
                    4,
                    "SLOT_ACTIVE",
                    "slot pgapply_" + reader.name() + " is active for server process",
                    "pgapply/" + reader.name(),
                    "pg_terminate_backend",
                    "--slot-wait");
            assertEquals(0, target.count("t"));
            run.assertRunning();
        }
    }

    @Test
    void aSecondInstanceOfTheSameSubscriptionGivesWay() {
        try (Replication replication = replication();
                EngineRun run = replication.engine()) {
            replication.awaitApplied();
            expect(
                    job(replication),
                    8,
                    "INSTANCE_RUNNING",
                    "another instance runs subscription " + replication.name(),
                    "process " + ProcessHandle.current().pid(),
                    "--name");
            replication.source().execute("INSERT INTO t VALUES (1, 'x')");
            replication.awaitApplied();
            replication.assertIdentical();
            run.assertRunning();
        }
    }

    @Test
    void aNameThatAnotherDatabaseOfTheTargetsClusterUsesIsNotTaken() {
        try (Replication replication = replication();
                EngineRun run = replication.engine();
                TestDatabase target = replication.target().server().database()) {
            replication.awaitApplied();
            target.execute("CREATE TABLE t (id int PRIMARY KEY, v text)");
            expect(
                    between(replication, replication.source().uri(), target.uri()),
                    8,
                    "INSTANCE_RUNNING",
                    "another database of the target's cluster",
                    "--name");
            run.assertRunning();
        }
    }

    @Test
    void aSlotOfAnotherDatabaseIsNotUsed() {
        try (Replication replication = replication();
                TestDatabase other = replication.source().server().database()) {
            other.queryAll(
                    "SELECT pg_create_logical_replication_slot('pgapply_" + replication.name() + "', 'pgoutput')");
            expect(
                    job(replication),
                    3,
                    "SETUP",
                    "slot pgapply_" + replication.name() + " belongs to plugin pgoutput in database " + other.name(),
                    "--slot");
        }
    }

    /// One server in the three states that a whole server must be in: no logical decoding, no free slot, a
    /// standby.
    @Test
    void whatAWholeServerLacksIsNamed() throws IOException {
        try (Replication replication = replication();
                PostgresServer server = PostgresServer.major(TestServers.NEWEST)
                        .setting("wal_level", "replica")
                        .setting("max_replication_slots", "1")
                        .start()) {
            server.execute("postgres", "CREATE TABLE t (id int PRIMARY KEY, v text)");
            expect(
                    between(
                            replication,
                            server.uri("postgres"),
                            replication.target().uri()),
                    3,
                    "SETUP",
                    "wal_level is replica",
                    "ALTER SYSTEM SET wal_level = logical;");

            server.set("wal_level", "logical");
            server.restart();
            server.query("postgres", "SELECT pg_create_physical_replication_slot('taken')");
            expect(
                    between(
                            replication,
                            server.uri("postgres"),
                            replication.target().uri()),
                    3,
                    "SETUP",
                    "all replication slots are in use",
                    "ALTER SYSTEM SET max_replication_slots",
                    "pg_drop_replication_slot");

            server.query("postgres", "SELECT pg_drop_replication_slot('taken')");
            server.stopFast();
            Files.createFile(server.dataFolder().resolve("standby.signal"));
            server.startAgain();
            FailedRun standby = expect(
                    between(replication, replication.source().uri(), server.uri("postgres")),
                    5,
                    "TARGET_FULL",
                    "read-only",
                    "--target");
            assertFalse(standby.error().contains("Flyway"), standby::error);
        }
    }
}
