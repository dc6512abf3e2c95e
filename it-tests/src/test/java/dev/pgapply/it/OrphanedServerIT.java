package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A server must not outlive the JVM that has started it.
class OrphanedServerIT {

    /// The JVM that will be killed: starts a server, prints its process id and folder, and waits.
    static final class Owner {
        private Owner() {}

        public static void main(String[] args) throws IOException {
            PostgresServer server = PostgresServer.major(TestServers.NEWEST).start();
            System.out.println(server.pid());
            System.out.println(server.folder());
            System.in.read();
        }
    }

    @Test
    void aServerAndItsFolderGoWithTheirKilledJvm() throws IOException, InterruptedException {
        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dpgapply.servers.dir=" + PostgresServer.jars(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Owner.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = owner.inputReader()) {
            long pid = Long.parseLong(output.readLine());
            Path folder = Path.of(output.readLine());
            assertTrue(ProcessHandle.of(pid).isPresent());
            assertTrue(Files.exists(folder));
            owner.destroyForcibly();
            assertTrue(owner.waitFor(10, TimeUnit.SECONDS));
            Await.until("the folder is deleted", () -> !Files.exists(folder));
            assertFalse(isPostgres(pid));
        } finally {
            owner.destroyForcibly();
        }
    }

    // What is left of an ended process until it is reaped has no command line.
    private static boolean isPostgres(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(handle -> handle.info().command())
                .filter(command -> command.contains("postgres"))
                .isPresent();
    }
}
