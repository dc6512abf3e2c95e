package dev.pgapply.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;

/// `pgapply` as users start it: the launcher script, and so a JVM of its own that can be killed.
final class Launcher implements AutoCloseable {

    private final Process process;
    private final Path stdout;
    private final Path stderr;

    private Launcher(Process process, Path stdout, Path stderr) {
        this.process = process;
        this.stdout = stdout;
        this.stderr = stderr;
    }

    /// Starts `pgapply` with these arguments.
    static Launcher start(List<String> arguments) {
        return start(arguments, Map.of());
    }

    /// Starts `pgapply` with these arguments and further environment variables.
    static Launcher start(List<String> arguments, Map<String, String> environment) {
        try {
            Path stdout = Files.createTempFile("pgapply-", ".out");
            Path stderr = Files.createTempFile("pgapply-", ".err");
            List<String> command = new ArrayList<>();
            // A build in the background ignores SIGINT, and a JVM that inherits that leaves it ignored.
            command.add("env");
            command.add("--default-signal=INT,TERM");
            command.add(System.getProperty("pgapply.launcher"));
            command.addAll(arguments);
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectOutput(stdout.toFile()).redirectError(stderr.toFile());
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            builder.environment().put("PGAPPLY_NO_BUILD", "1");
            builder.environment().putAll(environment);
            Process process = builder.start();
            process.getOutputStream().close();
            return new Launcher(process, stdout, stderr);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// SIGKILL, and waits until the process is gone.
    void kill() {
        // The script has replaced itself by the JVM, so this is the JVM's process id.
        process.destroyForcibly();
        awaitExit();
    }

    /// SIGTERM; does not wait.
    void terminate() {
        process.destroy();
    }

    /// SIGINT, as from Ctrl-C; does not wait.
    void interrupt() {
        try {
            Process kill = new ProcessBuilder("kill", "-INT", Long.toString(pid())).start();
            Assertions.assertEquals(0, kill.waitFor(), "kill -INT");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isRunning() {
        return process.isAlive();
    }

    /// Waits for the end and returns the exit status; 128 + the signal's number for a killed one.
    int awaitExit() {
        return awaitExit(Await.PATIENCE);
    }

    int awaitExit(Duration patience) {
        try {
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                Assertions.fail("pgapply does not end; its log: " + stderr());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// What it has printed so far.
    String stdout() {
        return read(stdout);
    }

    /// What it has logged so far.
    String stderr() {
        return read(stderr);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
        try {
            Files.deleteIfExists(stdout);
            Files.deleteIfExists(stderr);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
