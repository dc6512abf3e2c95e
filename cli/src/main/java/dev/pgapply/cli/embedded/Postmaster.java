package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The process of a server, started and ended over and over on the same folder. For one thread at a time.
final class Postmaster {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ServerBinaries binaries;
    private final ServerFolder folder;

    // Written by the thread that starts and ends the server; others ask whether it runs.
    private volatile @Nullable BackgroundProcess process;

    Postmaster(ServerBinaries binaries, ServerFolder folder) {
        this.binaries = binaries;
        this.folder = folder;
    }

    /// Returns when the server accepts connections (true) or has ended, for a reason that its log tells
    /// (false).
    boolean launch(int port) throws IOException {
        List<String> command = OperatingSystem.unprivileged(List.of(
                binaries.program("postgres").toString(),
                "-D",
                folder.data().toString(),
                "-p",
                String.valueOf(port),
                "-h",
                "127.0.0.1",
                "-k",
                folder.socketFolder()));
        BackgroundProcess started = BackgroundProcess.start(
                command, folder.log(), folder.data().toString(), "QUIT", Optional.of(folder.root()));
        process = started;
        if (folder.waitUntilReady(started)) {
            return true;
        }
        started.close();
        return false;
    }

    boolean isRunning() {
        BackgroundProcess current = process;
        return current != null && current.isRunning();
    }

    /// @throws ServerException if there is none
    BackgroundProcess running() {
        BackgroundProcess current = process;
        if (current == null || !current.isRunning()) {
            throw new ServerException("PostgreSQL " + binaries.major() + " is not running");
        }
        return current;
    }

    /// SIGKILL for the postmaster and all its backends; returns when nothing is left.
    void kill() {
        if (process != null) {
            process.kill();
        }
        OperatingSystem.killAllIn(folder.data());
    }

    /// Sends a signal that ends the server and waits for that.
    void stop(String signal) {
        if (isRunning()) {
            BackgroundProcess current = running();
            current.leaveRunning();
            current.signal(signal);
            if (!current.awaitEnd(PATIENCE)) {
                throw new ServerException("PostgreSQL " + binaries.major() + " does not stop: see " + folder.log());
            }
        }
    }
}
