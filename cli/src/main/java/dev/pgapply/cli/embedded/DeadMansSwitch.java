package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Ends a process when this JVM ends in whatever way, `kill -9` included: a small shell process reads from a
/// pipe that only this JVM holds, and acts at its end.
final class DeadMansSwitch implements AutoCloseable {

    // The command line is looked at again: the process id may belong to somebody else by then.
    private static final String SCRIPT = """
            trap '' INT HUP TERM
            read -r _
            ours() { [ -r /proc/$1/cmdline ] && tr '\\0' ' ' < /proc/$1/cmdline | grep -qF -e "$2"; }
            if ours "$1" "$2"; then
              kill -$3 "$1"
              n=0
              while ours "$1" "$2" && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
              if ours "$1" "$2"; then kill -KILL "$1"; fi
            fi
            n=0
            while [ -e "${4:-/nothing}" ] && [ $n -lt 200 ]; do rm -rf "$4" || sleep 0.05; n=$((n + 1)); done
            """;

    private final Process process;

    /// @param watched the process to end
    /// @param mark a part of its command line
    /// @param signal what ends it; SIGKILL follows after ten seconds
    /// @param folder what to delete then
    DeadMansSwitch(Process watched, String mark, String signal, Optional<Path> folder) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", SCRIPT, "sh"));
        command.addAll(List.of(String.valueOf(watched.pid()), mark, signal));
        folder.map(Path::toString).ifPresent(command::add);
        process = new ProcessBuilder(OperatingSystem.detached(command))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /// From now on the process outlives this JVM.
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
