package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Stops a server and deletes its folder when this JVM ends in whatever way, `kill -9` included: a small shell process
/// reads from a pipe that only this JVM holds, and acts at its end.
final class DeadMansSwitch implements AutoCloseable {

    // The command line is looked at again: the process id may belong to somebody else by then.
    private static final String SCRIPT = """
            trap '' INT HUP TERM
            read -r _
            ours() { [ -r /proc/$1/cmdline ] && grep -qF "$2" /proc/$1/cmdline; }
            if ours "$1" "$2"; then
              kill -QUIT "$1"
              n=0
              while ours "$1" "$2" && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
              if ours "$1" "$2"; then kill -KILL "$1"; fi
            fi
            rm -rf "$2"
            """;

    private final Process process;

    /// @param server the postmaster, whose command line names the folder
    DeadMansSwitch(Process server, Path folder) throws IOException {
        List<String> command = OperatingSystem.detached(
                List.of("sh", "-c", SCRIPT, "sh", String.valueOf(server.pid()), folder.toString()));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /// From now on the server outlives this JVM.
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw OperatingSystem.interrupted(e);
        }
    }
}
