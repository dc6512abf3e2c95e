package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.PostgresServer;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// B096: an odd password on a server that asks for one, by each way of giving it; nobody else gets to see it.
final class PasswordsIT {

    private static final String ODD = "p@ss w:/?#%+'\"\\é";
    private static final String ENCODED =
            URLEncoder.encode(ODD, StandardCharsets.UTF_8).replace("+", "%20");
    private static final String IN_PASSFILE = ODD.replace("\\", "\\\\").replace(":", "\\:");

    private static PostgresServer server;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        server = PostgresServer.major(TestServers.NEWEST)
                .authentication("scram-sha-256", ODD)
                .start();
        server.set("log_statement", "all");
        server.reload();
        server.execute("postgres", "CREATE DATABASE shop", "CREATE DATABASE copy");
        for (String database : List.of("shop", "copy")) {
            server.execute(database, "CREATE TABLE t (id int PRIMARY KEY)");
        }
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private enum Way {
        /// Percent-encoded in a URI, which is in a variable.
        URI_IN_VARIABLE,
        /// In `.pgpass` for both sides.
        PASSFILE,
        /// The source's in `PGPASSWORD`, the target's in a file of its own that the configuration names.
        VARIABLE_AND_FILE,
        /// On the command line, where everybody can read it: works, with a warning.
        FLAG
    }

    private record Job(List<String> arguments, Map<String, String> environment) {}

    private Job job(Way way) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("run", "--debug", "--name", name(way)));
        Map<String, String> environment = new HashMap<>(Map.of("PGAPPLY_TIER", "1"));
        String source = server.uri("shop");
        String target = server.uri("copy");
        switch (way) {
            case URI_IN_VARIABLE -> {
                environment.put("PGAPPLY_SOURCE_URI", withPassword(source));
                environment.put("PGAPPLY_TARGET_URI", withPassword(target));
            }
            case PASSFILE -> {
                environment.put("PGPASSFILE", passfile(IN_PASSFILE));
                arguments.addAll(List.of("--source", source, "--target", target));
            }
            case VARIABLE_AND_FILE -> {
                Path own = Files.writeString(folder.resolve("target-password"), ODD + "\n");
                Path file = Files.writeString(
                        folder.resolve("job.yml"),
                        "source:\n  url: " + source + "\ntarget:\n  url: " + target + "\n  password_file: "
                                + own.getFileName() + "\n");
                environment.put("PGPASSWORD", ODD);
                arguments.addAll(List.of("--config", file.toString()));
            }
            case FLAG -> arguments.addAll(List.of("--source", withPassword(source), "--target", withPassword(target)));
        }
        return new Job(arguments, environment);
    }

    private static String name(Way way) {
        return "way_" + way.ordinal();
    }

    private static String withPassword(String uri) {
        return uri.replace(PostgresServer.SUPERUSER + "@", PostgresServer.SUPERUSER + ":" + ENCODED + "@");
    }

    private String passfile(String password) throws IOException {
        Path file = Files.writeString(folder.resolve("passfile"), "*:*:*:*:" + password + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file.toString();
    }

    @ParameterizedTest
    @EnumSource
    void anOddPasswordOpensBothSidesAndIsSeenNowhere(Way way) throws IOException {
        server.execute("copy", "TRUNCATE t");
        Job job = job(way);
        try (Launcher run = Launcher.start(job.arguments(), job.environment())) {
            int row = way.ordinal();
            server.execute("shop", "INSERT INTO t VALUES (" + row + ")");
            Await.until(
                    "the row is there",
                    () -> !run.isRunning()
                            || (server.query("copy", "SELECT to_regclass('t')").isPresent()
                                    && server.query("copy", "SELECT id FROM t WHERE id = " + row)
                                            .isPresent()));
            assertTrue(run.isRunning(), run::stderr);
            server.execute("shop", "INSERT INTO t VALUES (" + (row + 100) + ")");
            Await.until(
                    "the next one is streamed",
                    () -> server.query("copy", "SELECT id FROM t WHERE id = " + (row + 100))
                            .isPresent());
            String arguments = Files.readString(Path.of("/proc/" + run.pid() + "/cmdline"));
            assertEquals(way == Way.FLAG, shows(arguments), arguments);
            assertEquals(way == Way.FLAG, run.stderr().contains("--source has a password in it"), run::stderr);
            run.terminate();
            assertEquals(0, run.awaitExit(), run::stderr);
            assertHidden("standard error", run.stderr());
            assertHidden("standard output", run.stdout());
        }
        assertSeenByNobody();
    }

    @Test
    void aWrongPasswordIsTheSourcesOrTheTargetsAffair() throws IOException {
        String source = server.uri("shop");
        String target = server.uri("copy");
        Path right = Files.writeString(folder.resolve("right"), ODD);
        Path wrong = Files.writeString(folder.resolve("wrong"), "wr0ng " + ODD);
        for (boolean sourceIsWrong : List.of(true, false)) {
            Path file = Files.writeString(
                    folder.resolve("job.yml"),
                    "source:\n  url: " + source + "\n  password_file: " + (sourceIsWrong ? wrong : right)
                            + "\ntarget:\n  url: " + target + "\n  password_file: " + (sourceIsWrong ? right : wrong)
                            + "\n");
            try (Launcher run =
                    Launcher.start(List.of("run", "--config", file.toString()), Map.of("PGAPPLY_TIER", "1"))) {
                FailedRun failed = FailedRun.expect(
                        run,
                        sourceIsWrong ? 4 : 5,
                        sourceIsWrong ? "SOURCE_REFUSED" : "TARGET_REFUSED",
                        "password authentication failed for user \"postgres\"",
                        sourceIsWrong ? "source postgres@127.0.0.1" : "target postgres@127.0.0.1",
                        "password_file",
                        ".pgpass");
                assertHidden("standard error", failed.stderr());
                assertFalse(failed.stderr().contains("wr0ng"), failed::stderr);
            }
        }
    }

    @Test
    void noPasswordAtAllIsAskedForByName() {
        for (boolean sourceHasNone : List.of(true, false)) {
            Map<String, String> environment = new HashMap<>(Map.of("PGAPPLY_TIER", "1", "PGPASSFILE", "/nonexistent"));
            environment.put(
                    "PGAPPLY_SOURCE_URI", sourceHasNone ? server.uri("shop") : withPassword(server.uri("shop")));
            environment.put("PGAPPLY_TARGET_URI", server.uri("copy"));
            try (Launcher run = Launcher.start(List.of("run"), environment)) {
                FailedRun.expect(
                        run,
                        sourceHasNone ? 4 : 5,
                        sourceHasNone ? "SOURCE_REFUSED" : "TARGET_REFUSED",
                        "password",
                        ".pgpass");
            }
        }
    }

    private static void assertSeenByNobody() throws IOException {
        Optional<String> sessions = server.query(
                "postgres",
                "SELECT string_agg(concat_ws(' ', application_name, query, client_hostname), E'\\n') FROM pg_stat_activity");
        assertHidden("pg_stat_activity", sessions.orElseThrow());
        assertHidden("the server's log", Files.readString(server.logFile(), StandardCharsets.UTF_8));
    }

    private static void assertHidden(String where, String text) {
        assertFalse(shows(text), () -> "the password is in " + where + ": " + text);
    }

    private static boolean shows(String text) {
        return List.of(ODD, ENCODED, IN_PASSFILE, ODD.replace("'", "''"), "ss w:/", "ss%20w", "%3A%2F").stream()
                .anyMatch(text::contains);
    }
}
