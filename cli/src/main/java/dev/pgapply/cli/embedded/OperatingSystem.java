package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What the server programs need from Linux: another user than root, signals, processes of a folder.
final class OperatingSystem {

    private static final String NOBODY = "65534";

    /// How the programs of a server are started; they refuse to run as root.
    private enum Identity {
        /// We are not root.
        OWN,
        /// A user namespace without a mapping: the program sees itself as nobody, the files stay ours.
        NAMESPACE,
        /// Where user namespaces are switched off: really as nobody, who must own the data then.
        SETPRIV;

        List<String> prefix() {
            return switch (this) {
                case OWN -> List.of();
                case NAMESPACE -> List.of("unshare", "-U");
                case SETPRIV -> List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
            };
        }
    }

    private static final Identity IDENTITY = identity();

    private OperatingSystem() {}

    /// The user id of this process.
    static Integer uid() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    private static Identity identity() {
        try {
            if (uid() != 0) {
                return Identity.OWN;
            }
            for (Identity identity : List.of(Identity.NAMESPACE, Identity.SETPRIV)) {
                List<String> probe = new ArrayList<>(identity.prefix());
                probe.add("true");
                if (succeeds(probe)) {
                    return identity;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new ServerException(
                "PostgreSQL does not run as root: allow user namespaces, install setpriv, or be another user");
    }

    /// The command with what makes it run as somebody who is not root; its process id is that of the command.
    static List<String> unprivileged(List<String> command) {
        List<String> all = new ArrayList<>(IDENTITY.prefix());
        all.addAll(command);
        return all;
    }

    /// The command in a session of its own where that is possible, so that a Ctrl-C in the terminal does not
    /// reach it.
    static List<String> detached(List<String> command) {
        List<String> all = new ArrayList<>();
        if (Files.isExecutable(Path.of("/usr/bin/setsid")) || Files.isExecutable(Path.of("/bin/setsid"))) {
            all.add("setsid");
        }
        all.addAll(command);
        return all;
    }

    /// A new folder that the server's programs may write to.
    static Path serverFolder(Path parent, String prefix) throws IOException {
        Path folder = Files.createTempDirectory(Files.createDirectories(parent), prefix);
        giveToServer(folder);
        return folder;
    }

    /// Lets the server's programs own a file or folder (not what is in it).
    static void giveToServer(Path path) throws IOException {
        if (IDENTITY == Identity.SETPRIV) {
            Integer nobody = Integer.valueOf(NOBODY);
            Files.setAttribute(path, "unix:uid", nobody, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:gid", nobody, LinkOption.NOFOLLOW_LINKS);
        }
    }

    static void readableByAll(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /// Runs a command to its end.
    ///
    /// @throws ServerException with its output if it fails or takes longer than a minute
    static void run(List<String> command) {
        try {
            Path output = Files.createTempFile("pgapply-", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
                process.getOutputStream().close();
                if (!process.waitFor(60, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new ServerException(String.join(" ", command) + " takes longer than a minute");
                }
                if (process.exitValue() != 0) {
                    throw new ServerException(String.join(" ", command) + " failed with " + process.exitValue() + ": "
                            + Files.readString(output, StandardCharsets.UTF_8));
                }
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static boolean succeeds(List<String> command) {
        try {
            run(command);
            return true;
        } catch (ServerException | UncheckedIOException e) {
            return false;
        }
    }

    /// @param signal its name without `SIG`
    static void signal(Process process, String signal) {
        if (process.isAlive()) {
            try {
                run(List.of("sh", "-c", "kill -" + signal + " " + process.pid()));
            } catch (ServerException e) {
                if (process.isAlive()) {
                    throw e;
                }
            }
        }
    }

    /// Kills every process that works in this folder with SIGKILL and returns when none is left. A server's
    /// processes all work in its data folder, also those whose parent is gone.
    ///
    /// @param folder without symbolic links
    static void killAllIn(Path folder) {
        waitUntil(
                () -> {
                    List<ProcessHandle> processes = processesIn(folder);
                    processes.forEach(ProcessHandle::destroyForcibly);
                    return processes.isEmpty();
                },
                "the processes of " + folder + " do not end");
    }

    private static List<ProcessHandle> processesIn(Path folder) {
        String name = folder.toString();
        try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
            return all.filter(handle -> name.equals(workingFolder(handle))).toList();
        }
    }

    private static @Nullable String workingFolder(ProcessHandle handle) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/" + handle.pid() + "/cwd"))
                    .toString();
        } catch (IOException e) {
            // It has just ended, or it is not ours.
            return null;
        }
    }

    /// Asks every few milliseconds until it is so.
    ///
    /// @throws ServerException with this message after a minute
    static void waitUntil(Supplier<Boolean> condition, String otherwise) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        try {
            while (!condition.get()) {
                if (System.nanoTime() > deadline) {
                    throw new ServerException(otherwise);
                }
                TimeUnit.MILLISECONDS.sleep(5);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    static ServerException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new ServerException("interrupted", e);
    }

    /// Deletes a folder with everything in it; what disappears meanwhile is no error.
    static void deleteTree(Path folder) {
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                    if (e instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw e;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException e) throws IOException {
                    if (e != null) {
                        throw e;
                    }
                    Files.deleteIfExists(dir);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }
}
