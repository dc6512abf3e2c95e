package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The process of a server, started and ended over and over on the same folder. For one thread at a time.
final class Postmaster {

    private static final int STOP_SECONDS = 60;

    private final ServerBinaries binaries;
    private final ServerFolder folder;
    private volatile @Nullable Process process;
    private @Nullable DeadMansSwitch deadMansSwitch;

    Postmaster(ServerBinaries binaries, ServerFolder folder) {
        this.binaries = binaries;
        this.folder = folder;
    }

    /// Returns when the server accepts connections (true) or has ended, for a reason that its log tells (false).
    boolean launch(int port) throws IOException {
        Process started = new ProcessBuilder(OperatingSystem.detached(OperatingSystem.unprivileged(List.of(
                        binaries.program("postgres").toString(),
                        "-D",
                        folder.data().toString(),
                        "-p",
                        String.valueOf(port),
                        "-h",
                        "127.0.0.1",
                        "-k",
                        folder.socketFolder()))))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.log().toFile()))
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        process = started;
        deadMansSwitch = new DeadMansSwitch(started, folder.root());
        if (folder.waitUntilReady(started)) {
            return true;
        }
        disarm();
        return false;
    }

    boolean isRunning() {
        Process current = process;
        return current != null && current.isAlive();
    }

    /// @throws ServerException if there is none
    Process running() {
        Process current = process;
        if (current == null || !current.isAlive()) {
            throw new ServerException("PostgreSQL " + binaries.major() + " is not running");
        }
        return current;
    }

    /// From now on the server outlives this JVM.
    void disarm() {
        if (deadMansSwitch != null) {
            deadMansSwitch.close();
            deadMansSwitch = null;
        }
    }

    /// SIGKILL for the postmaster and all its backends; returns when nothing is left.
    void kill() {
        disarm();
        if (process != null) {
            process.destroyForcibly();
        }
        OperatingSystem.killAllIn(folder.data());
        waitForEnd();
    }

    /// Sends a signal that ends the server and waits for that.
    void stop(String signal) {
        disarm();
        if (process != null) {
            OperatingSystem.signal(process, signal);
            waitForEnd();
        }
    }

    private void waitForEnd() {
        try {
            if (process != null && !process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new ServerException("PostgreSQL " + binaries.major() + " does not stop: see " + folder.log());
            }
        } catch (InterruptedException e) {
            throw OperatingSystem.interrupted(e);
        }
    }
}
