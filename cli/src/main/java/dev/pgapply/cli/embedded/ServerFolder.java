package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/// The files of one server: `data`, `server.log` and the socket, all in one folder.
record ServerFolder(Path root) {

    private static final String SETTINGS = "pgapply.conf";

    // sockaddr_un holds 107 bytes.
    private static final int LONGEST_SOCKET_FOLDER = 107 - "/.s.PGSQL.65535.lock".length();

    static ServerFolder create(Path parent, String prefix) throws IOException {
        ServerFolder folder =
                new ServerFolder(OperatingSystem.serverFolder(parent, prefix).toRealPath());
        Files.createDirectory(folder.data());
        OperatingSystem.giveToServer(folder.data());
        return folder;
    }

    Path data() {
        return root.resolve("data");
    }

    Path log() {
        return root.resolve("server.log");
    }

    /// For `-k`; empty, which means no socket, where the path is too long for one.
    String socketFolder() {
        return root.toString().length() <= LONGEST_SOCKET_FOLDER ? root.toString() : "";
    }

    /// Makes `postgresql.conf` end with the settings of [#writeSettings].
    void includeSettings() throws IOException {
        Files.writeString(
                data().resolve("postgresql.conf"), "\ninclude '" + SETTINGS + "'\n", StandardOpenOption.APPEND);
    }

    void writeSettings(Map<String, String> settings) throws IOException {
        List<String> lines = settings.entrySet().stream()
                .map(entry -> entry.getKey() + " = '" + entry.getValue().replace("'", "''") + "'")
                .toList();
        Path written = data().resolve(SETTINGS + ".new");
        Files.write(written, lines, StandardCharsets.UTF_8);
        OperatingSystem.giveToServer(written);
        Files.move(written, data().resolve(SETTINGS), StandardCopyOption.ATOMIC_MOVE);
    }

    long logSize() throws IOException {
        return Files.exists(log()) ? Files.size(log()) : 0;
    }

    String logFrom(long offset) throws IOException {
        byte[] all = Files.readAllBytes(log());
        return new String(all, (int) offset, all.length - (int) offset, StandardCharsets.UTF_8).strip();
    }

    /// Returns when the postmaster has written that it accepts connections (true) or has ended (false).
    boolean waitUntilReady(BackgroundProcess postmaster) {
        OperatingSystem.waitUntil(
                () -> !postmaster.isRunning() || isReady(postmaster.pid()),
                "the server does not become ready: " + log());
        return postmaster.isRunning();
    }

    // The eighth line of the lock file is the status, since version 10.
    private boolean isReady(long pid) {
        try {
            List<String> lines = Files.readAllLines(data().resolve("postmaster.pid"), StandardCharsets.UTF_8);
            return lines.size() >= 8
                    && lines.get(0).strip().equals(String.valueOf(pid))
                    && (lines.get(7).strip().equals("ready")
                            || lines.get(7).strip().equals("standby"));
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
