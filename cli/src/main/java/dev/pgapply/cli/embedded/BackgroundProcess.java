package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/// A program in the background: in a session of its own, its output in a file, and ended with this JVM, however
/// that ends. The methods that end it are for one thread at a time.
public final class BackgroundProcess implements AutoCloseable {

    private final Process process;
    private final DeadMansSwitch deadMansSwitch;
    private boolean detached;

    private BackgroundProcess(Process process, DeadMansSwitch deadMansSwitch) {
        this.process = process;
        this.deadMansSwitch = deadMansSwitch;
    }

    /// Starts a program that ends at SIGTERM.
    ///
    /// @param output gets what it prints, behind what the file has
    /// @param folder is deleted when this JVM ends while the program is its
    public static BackgroundProcess start(List<String> command, Path output, Path folder) {
        try {
            return start(command, output, String.join(" ", command), "TERM", Optional.of(folder));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command.get(0), e);
        }
    }

    /// As the constructor of [DeadMansSwitch].
    static BackgroundProcess start(List<String> command, Path output, String mark, String signal, Optional<Path> folder)
            throws IOException {
        Process process = new ProcessBuilder(OperatingSystem.detached(command))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        return new BackgroundProcess(process, new DeadMansSwitch(process, mark, signal, folder));
    }

    public long pid() {
        return process.pid();
    }

    public boolean isRunning() {
        return process.isAlive();
    }

    /// The exit status of an ended program; 128 and the number of the signal where one has ended it.
    public OptionalInt exitStatus() {
        return process.isAlive() ? OptionalInt.empty() : OptionalInt.of(process.exitValue());
    }

    /// @param name without `SIG`
    void signal(String name) {
        OperatingSystem.signal(process, name);
    }

    /// SIGKILL; returns when the program is gone.
    public void kill() {
        leaveRunning();
        process.destroyForcibly();
        awaitEnd(Duration.ofMinutes(1));
    }

    /// SIGTERM; returns when the program has ended, or after this time.
    ///
    /// @return its exit status, empty if it still runs
    public OptionalInt stop(Duration patience) {
        process.destroy();
        awaitEnd(patience);
        return exitStatus();
    }

    /// Waits for the program's end; false if it still runs after this time.
    boolean awaitEnd(Duration patience) {
        try {
            return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw OperatingSystem.interrupted(e);
        }
    }

    /// From now on the program outlives this JVM and [#close()].
    public void leaveRunning() {
        detached = true;
        deadMansSwitch.close();
    }

    /// Kills the program unless it was left running. May be called twice.
    @Override
    public void close() {
        if (!detached) {
            kill();
        }
    }
}
