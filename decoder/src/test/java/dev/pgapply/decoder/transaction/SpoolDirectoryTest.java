package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolDirectoryTest {

    @TempDir
    Path path;

    @Test
    void filesOfAKilledProcessAreRemovedByTheNext() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        path.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            assertEquals("spooled", output.readLine());
            assertEquals(2, names().size());
            try (SpoolDirectory ours = SpoolDirectory.open(path)) {
                assertFalse(Files.exists(ours.file(7)));
                assertEquals(3, names().size(), "the process is alive");
            }
            process.destroyForcibly().waitFor();
            assertEquals(2, names().size());
            try (SpoolDirectory ours = SpoolDirectory.open(path)) {
                assertEquals(1, names().size());
                assertTrue(Files.isDirectory(ours.path()));
            }
        } finally {
            process.destroyForcibly();
        }
        assertEquals(List.of(), names());
    }

    /// Runs in a process of its own until it is killed.
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws IOException {
            SpoolDirectory directory = SpoolDirectory.open(Path.of(arguments[0]));
            Files.writeString(directory.file(7), "spooled");
            System.out.println("spooled");
            int ignored = System.in.read();
            directory.close();
        }
    }

    @Test
    void ownersInOneProcessDoNotRemoveEachOther() throws IOException {
        try (SpoolDirectory first = SpoolDirectory.open(path)) {
            Files.writeString(first.file(7), "x");
            try (SpoolDirectory second = SpoolDirectory.open(path)) {
                assertFalse(Files.exists(second.file(7)));
                assertTrue(Files.exists(first.file(7)));
            }
            assertTrue(Files.exists(first.file(7)));
        }
        assertEquals(List.of(), names());
    }

    @Test
    void filesOfOthersStay() throws IOException {
        Files.writeString(path.resolve("notes.txt"), "x");
        Files.writeString(path.resolve("pgapply-other.spool.bak"), "x");
        SpoolDirectory.open(path).close();
        assertEquals(List.of("notes.txt", "pgapply-other.spool.bak"), names());
    }

    @Test
    void directoryIsCreated() {
        Path missing = path.resolve("a/b");
        SpoolDirectory.open(missing).close();
        assertTrue(Files.isDirectory(missing));
    }

    @Test
    void fileInPlaceOfTheDirectoryIsUnusable() throws IOException {
        Path file = Files.writeString(path.resolve("file"), "x");
        SpoolException.Unusable e = assertThrows(SpoolException.Unusable.class, () -> SpoolDirectory.open(file));
        assertEquals(file.toString(), e.directory());
    }

    @Test
    void transactionIdsAreUnsignedInFileNames() {
        try (SpoolDirectory directory = SpoolDirectory.open(path)) {
            assertTrue(directory.file(-1).toString().endsWith("-4294967295.spool"));
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
