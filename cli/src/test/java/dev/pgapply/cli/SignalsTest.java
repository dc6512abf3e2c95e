package dev.pgapply.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.output.Console;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class SignalsTest {

    @ParameterizedTest
    @CsvSource({
        "TERM,  '',           0",
        "INT,   '',           0",
        "TERM,  --until=now,  143",
        "INT,   --until=now,  130"
    })
    void aSignalEndsARunWithTheCodeOfItsKind(String signal, String until, int code) throws Exception {
        try (Child child = new Child("obedient", until)) {
            child.waitFor(FakeEngine.RUNNING);
            child.send(signal);
            assertEquals(code, child.exitCode());
            assertTrue(child.output().contains("summary after"), child.output());
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM,INT,130", "INT,TERM,143"})
    void aSecondSignalEndsTheProcessAtOnce(String first, String second, int code) throws Exception {
        try (Child child = new Child("deaf", "")) {
            child.waitFor(FakeEngine.RUNNING);
            child.send(first);
            child.waitFor("a second signal ends at once");
            child.send(second);
            assertEquals(code, child.exitCode());
        }
    }

    @Test
    void aRunThatReachesItsEndIsDone() throws Exception {
        try (Child child = new Child("reaches", "--until=now")) {
            assertEquals(0, child.exitCode());
        }
    }

    @ParameterizedTest
    @CsvSource({"true,0", "false,143"})
    void anEngineThatDoesNotStopIsCutOffWithTheSameCode(boolean endless, int code) throws Exception {
        BlockingQueue<Integer> halted = new ArrayBlockingQueue<>(1);
        StopSignals signals = new StopSignals(console(), Duration.ofMillis(1), halted::add);
        signals.onFirst(endless, () -> {});
        signals.received("TERM");
        assertEquals(code, halted.take());
    }

    @Test
    void aSignalBeforeTheEngineIsReadyStopsItLater() {
        List<String> stopped = new ArrayList<>();
        StopSignals signals = new StopSignals(console(), Duration.ofMinutes(1), code -> {});
        assertEquals(Optional.empty(), signals.outcome());
        signals.received("INT");
        signals.onFirst(false, () -> stopped.add("engine"));
        assertEquals(List.of("engine"), stopped);
        assertEquals(Optional.of(ExitCode.INTERRUPTED), signals.outcome());
    }

    private static Console console() {
        return new Console(new PrintWriter(new StringWriter()), InstantSource.system(), false);
    }

    /// A JVM of its own that runs a [FakeEngine].
    private static final class Child implements AutoCloseable {

        private final Process process;
        private final BufferedReader reader;
        private final StringBuilder output = new StringBuilder();

        Child(String name, String until) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    // A build in the background ignores SIGINT, and a JVM that inherits that leaves it ignored.
                    "env",
                    "--default-signal=INT,TERM",
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    FakeMain.class.getName(),
                    "run",
                    "--name=" + name,
                    "--source=host=127.0.0.1 dbname=a",
                    "--target=host=127.0.0.1 dbname=b"));
            if (!until.isEmpty()) {
                command.add(until);
            }
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            reader = process.inputReader();
        }

        void waitFor(String part) throws IOException {
            String line = reader.readLine();
            while (line != null) {
                output.append(line).append('\n');
                if (line.contains(part)) {
                    return;
                }
                line = reader.readLine();
            }
            throw new AssertionError("the process ended without: " + part + "\n" + output);
        }

        void send(String signal) throws IOException, InterruptedException {
            Process kill = new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid())).start();
            assertEquals(0, kill.waitFor());
        }

        int exitCode() throws IOException, InterruptedException {
            reader.lines().forEach(line -> output.append(line).append('\n'));
            assertTrue(process.waitFor(10, TimeUnit.SECONDS), "still running after 10 s");
            return process.exitValue();
        }

        String output() {
            return output.toString();
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly();
            reader.close();
        }
    }
}
