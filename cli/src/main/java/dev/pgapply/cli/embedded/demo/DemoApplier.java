package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.BackgroundProcess;
import dev.pgapply.cli.embedded.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `pgapply run` as a process of its own, with the Java and the class path of this one.
final class DemoApplier implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int LINES_OF_LOG = 12;

    private final List<String> command;
    private final Path folder;
    private final Path log;
    private @Nullable BackgroundProcess process;

    /// @param mainClass has the verb `run`
    /// @param folder gets its log, `applier.log`
    DemoApplier(String mainClass, PostgresServer source, PostgresServer target, Path folder) {
        this.folder = folder;
        this.log = folder.resolve("applier.log");
        this.command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                mainClass,
                "run",
                "--name",
                "demo",
                "--source",
                source.uri(Shop.DATABASE),
                "--target",
                target.uri(Shop.DATABASE));
    }

    void start() {
        process = BackgroundProcess.start(command, log, folder);
    }

    Path folder() {
        return folder;
    }

    Path log() {
        return log;
    }

    long pid() {
        return running().pid();
    }

    /// SIGKILL; returns when it is gone.
    void kill() {
        running().kill();
    }

    /// SIGTERM; returns when it has ended in good order.
    void stop() {
        int status = running()
                .stop(PATIENCE)
                .orElseThrow(() -> new DemoException("the applier does not end on SIGTERM" + endOfLog()));
        if (status != 0) {
            throw new DemoException("the applier ended with exit status " + status + endOfLog());
        }
    }

    /// Fails with the end of its log if it has ended by itself.
    void check() {
        BackgroundProcess current = process;
        if (current != null && !current.isRunning()) {
            throw new DemoException("the applier has ended with exit status "
                    + current.exitStatus().orElse(-1) + endOfLog());
        }
    }

    void leaveRunning() {
        running().leaveRunning();
    }

    private BackgroundProcess running() {
        if (process == null) {
            throw new IllegalStateException("the applier was not started");
        }
        return process;
    }

    /// For the end of a message.
    String endOfLog() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
            List<String> last = lines.subList(Math.max(0, lines.size() - LINES_OF_LOG), lines.size());
            return last.isEmpty() ? "; its log is empty" : "; its log ends with\n  " + String.join("\n  ", last);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        if (process != null) {
            process.close();
        }
    }
}
