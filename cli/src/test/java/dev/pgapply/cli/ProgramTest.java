package dev.pgapply.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class ProgramTest {

    private static final String ODD = "p@ss w:/?#%+'\"\\é";
    private static final String ENCODED =
            URLEncoder.encode(ODD, StandardCharsets.UTF_8).replace("+", "%20");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Map<String, String> variables = Map.of();
    private Engine.Factory engines = FakeEngine::new;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                                 | pgapply: USAGE: a verb is needed: demo, run, status, version
            rum                  | pgapply: USAGE: unknown verb rum; did you mean run?
            verify               | pgapply: USAGE: unknown verb verify; did you mean version?
            run --sorce x        | pgapply: USAGE: unknown option --sorce; did you mean --source?
            run --sorce=x        | pgapply: USAGE: unknown option --sorce; did you mean --source?
            run --three-phase    | pgapply: USAGE: unknown option --three-phase; did you mean --two-phase?
            run -x               | pgapply: USAGE: unknown option -x; did you mean --help?
            run --name           | pgapply: USAGE: --name needs a value
            run --name --slot s  | pgapply: USAGE: --name needs a value
            run once             | pgapply: USAGE: an argument belongs to no option; a value with blanks needs quotes
            --source x run       | pgapply: USAGE: option --source follows the verb: pgapply run --source …
            --versoin            | pgapply: USAGE: unknown option --versoin; did you mean --version?
            version --jsno       | pgapply: USAGE: unknown option --jsno; did you mean --json?
            run                  | pgapply: USAGE: no source is given
            run -c /nowhere.yml  | pgapply: USAGE: the configuration file /nowhere.yml cannot be read: NoSuchFileException
            """)
    void aMistakeIsOneClearLineAndExitCode2(String arguments, String line) {
        assertEquals(2, execute(arguments == null ? new String[0] : arguments.split(" ")));
        assertEquals(line, err.toString().lines().findFirst().orElse(""));
        assertFalse(err.toString().contains("\tat "), err.toString());
        assertEquals("", out.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-V",
                "--version",
                "version",
                "-h",
                "--help",
                "run --help",
                "run -h",
                "status --help",
                "version --help"
            })
    void whatWasAskedForGoesToStandardOutput(String arguments) {
        assertEquals(0, execute(arguments.split(" ")));
        assertFalse(out.toString().isBlank());
        assertEquals("", err.toString());
    }

    @Test
    void versionsAreOneJsonObject() {
        assertEquals(0, execute("version", "--json"));
        assertTrue(
                out.toString()
                        .strip()
                        .matches("\\{\"version\":\"[^\"]+\",\"java\":\"[^\"]+\",\"pgjdbc\":\"42[^\"]+\","
                                + "\"source_versions\":\\[10,.*,18],\"target_versions\":\\[10,.*,18]}"),
                out.toString());
    }

    @Test
    void anErrorShowsItsCodePlaceAndHint() {
        assertEquals(
                6,
                run(new ConflictStop(
                        "duplicate key in orders_pkey",
                        "Delete the row,\nthen start again.",
                        new TableName("public", "orders"),
                        new Lsn(0x2000),
                        null)));
        assertEquals("""
                pgapply: CONFLICT: duplicate key in orders_pkey
                  table public.orders, commit position 0/2000
                  Delete the row,
                  then start again.
                """, err.toString().replace(System.lineSeparator(), "\n"));
    }

    @Test
    void anUnforeseenErrorShowsItsPlaceInTheCodeAndNoValues() {
        assertEquals(6, execute(job("broken")));
        assertTrue(
                err.toString().contains("pgapply: INTERNAL: unexpected java.lang.IllegalStateException at dev.pgapply"),
                err.toString());
        assertFalse(err.toString().contains("value of a row"), err.toString());
    }

    @Test
    void debugShowsTheStackTrace() {
        List<String> arguments = new ArrayList<>(Arrays.asList(job("broken")));
        arguments.add("--debug");
        execute(arguments.toArray(String[]::new));
        assertTrue(err.toString().contains("\tat dev.pgapply.cli.FakeEngine"), err.toString());
    }

    @Test
    void noOutputShowsAPassword() {
        String keyValue =
                "host=db1 user=app password='" + ODD.replace("\\", "\\\\").replace("'", "\\'") + "'";
        String uri = "postgresql://app:" + ENCODED + "@db1/app";
        List<String> sources = List.of(
                uri,
                keyValue,
                "jdbc:postgresql://db1/app?user=app&password=" + ENCODED,
                "postgresql://app:" + ODD + "@db1/app",
                "host=db1 password=" + ODD,
                uri + "?sslmod=x",
                keyValue + " port=x",
                uri + "x/y@z");
        engines = (subscription, listener) -> new Shouting(subscription);
        for (String source : sources) {
            execute("run", "--debug", "--source", source, "--target", "host=db2 dbname=app", "--until=now");
            execute("run", "--name", source, "--source", source, "--target", source);
            execute("run", "--source", "host=db2", "--target", source, source);
            execute(source, "run");
            execute("run", "--" + source);
            variables = Map.of("PGAPPLY_SOURCE_URI", source, "PGPASSWORD", ODD, "PGAPPLY_TARGET_URI", "host=x");
            execute("run", "--debug");
            variables = Map.of();
        }
        String shown = out + err.toString();
        assertTrue(shown.contains("the engine shouts app@db1:5432/app"), shown);
        for (String secret : List.of(ODD, ENCODED, "ss w", "w:/", "%3A%2F", "ss%20w")) {
            assertFalse(shown.contains(secret), shown);
        }
    }

    /// Logs and throws everything it knows.
    private record Shouting(Subscription subscription) implements Engine {

        @Override
        public RunResult run() {
            LoggerFactory.getLogger("dev.pgapply.shout")
                    .info("the engine shouts {} {}", subscription.source(), subscription);
            throw new IllegalArgumentException("shout " + subscription);
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    private int run(ApplyException failure) {
        engines = (Subscription subscription, EngineListener listener) -> {
            throw failure;
        };
        return execute(job("default"));
    }

    private static String[] job(String name) {
        return new String[] {"run", "--name", name, "--source", "host=db1 dbname=a", "--target", "host=db2 dbname=b"};
    }

    private int execute(String... arguments) {
        Console console = new Console(new PrintWriter(err), InstantSource.system(), false);
        ProcessEnvironment environment = new ProcessEnvironment(variables, Path.of("/nonexistent"), "os");
        return new Program(environment, new PrintWriter(out, true), console, engines).execute(arguments);
    }
}
