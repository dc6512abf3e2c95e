package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The process runs in a heap of 256 MB whatever the size of a transaction, as long as a row fits. Long runs:
/// `-Dpgapply.rows=5000000`.
final class MemoryIT {

    private static final Map<String, String> HEAP = Map.of("PGAPPLY_JAVA_OPTS", "-Xmx256m -XX:+ExitOnOutOfMemoryError");

    @TempDir
    private Path spool;

    /// B072 without streaming: the transaction flows through while it is received.
    @Test
    void aTransactionOfAnySizeNeedsConstantMemory() {
        int rows = Integer.getInteger("pgapply.rows", 300_000);
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE m (id int PRIMARY KEY, v text)");
            replication.applyUntilNow();
            replication
                    .source()
                    .transaction(
                            "INSERT INTO m SELECT g, repeat('v', 50) || g FROM generate_series(1, " + rows + ") g",
                            "UPDATE m SET v = 'changed' WHERE id % 10 = 0");
            long start = System.nanoTime();
            String peak = runUntilNow(replication, Duration.ofHours(1));
            System.out.printf(
                    "MemoryIT: one transaction of %,d rows in %,d ms, %s%n",
                    rows + rows / 10,
                    Duration.ofNanos(System.nanoTime() - start).toMillis(),
                    peak);
            replication.assertIdentical();
        }
    }

    /// B072 with streaming: the transaction waits in the spool, or is written ahead of its commit, while others
    /// pass.
    @ParameterizedTest
    @ValueSource(strings = {"on", "parallel"})
    void anOpenTransactionOfAnySizeNeedsConstantMemory(String mode) throws SQLException {
        int rows = Integer.getInteger("pgapply.rows", 300_000);
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE m (id int PRIMARY KEY, v text)", "CREATE TABLE small (id int PRIMARY KEY)");
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            String[] options = {"--streaming", mode, "--spool-dir", spool.toString(), "--spool-memory", "16MB"};
            try (Launcher run = replication.run(HEAP, options);
                    Connection connection = replication.source().connect();
                    Statement open = connection.createStatement()) {
                replication.awaitApplied();
                connection.setAutoCommit(false);
                open.execute("INSERT INTO m SELECT g, repeat('v', 200) || g FROM generate_series(1, " + rows + ") g");
                open.execute("SAVEPOINT s");
                open.execute("UPDATE m SET v = 'rolled back' WHERE id % 3 = 0");
                open.execute("ROLLBACK TO s");
                open.execute("UPDATE m SET v = 'changed' WHERE id % 10 = 0");
                memory.awaitStreamed(0);
                for (int i = 0; i < 20; i++) {
                    replication.source().execute("INSERT INTO small VALUES (" + i + ")");
                }
                replication.awaitSeen();
                replication.assertIdentical("small");
                connection.commit();
                replication.awaitApplied();
                replication.assertIdentical();
                System.out.println("MemoryIT: an open transaction of " + rows + " rows, " + mode + ": "
                        + residentPeak(run.pid(), "peak of resident memory unknown"));
                assertTrue(run.isRunning(), run::stderr);
                assertEquals(List.of(), SmallDecodingMemory.spoolFiles(spool));
            }
        }
    }

    /// B073: in copy and stream.
    @Test
    void rowsOfTwentyMegabytesFitIntoTheSameHeap() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE wide (id int PRIMARY KEY, v bytea)",
                    "ALTER TABLE wide ALTER COLUMN v SET STORAGE EXTERNAL",
                    "CREATE FUNCTION megabytes(n int, seed int) RETURNS bytea LANGUAGE sql AS $$"
                            + " SELECT decode(repeat(md5(seed::text), n * 65536), 'hex') $$");
            replication.source().execute("INSERT INTO wide SELECT g, megabytes(20, g) FROM generate_series(1, 3) g");
            String copy = runUntilNow(replication, Duration.ofMinutes(5));
            replication
                    .source()
                    .transaction(
                            "INSERT INTO wide SELECT g, megabytes(20, g) FROM generate_series(4, 5) g",
                            "UPDATE wide SET v = megabytes(20, 99) WHERE id = 1",
                            "UPDATE wide SET id = -id WHERE id = 2");
            String stream = runUntilNow(replication, Duration.ofMinutes(5));
            System.out.println("MemoryIT: rows of 20 MB, copy: " + copy + ", stream: " + stream);
            replication.assertIdentical();
        }
    }

    /// The run's peak of resident memory, for people.
    private static String runUntilNow(Replication replication, Duration patience) {
        try (Launcher run = replication.run(HEAP, "--until", "now")) {
            String[] peak = {"peak of resident memory unknown"};
            Await.until("pgapply has ended", patience, () -> {
                if (!run.isRunning()) {
                    return true;
                }
                peak[0] = residentPeak(run.pid(), peak[0]);
                return false;
            });
            assertEquals(0, run.awaitExit(), run::stderr);
            assertTrue(run.stderr().isEmpty() || !run.stderr().contains("OutOfMemory"), run::stderr);
            return peak[0];
        }
    }

    private static String residentPeak(long pid, String before) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .map(line -> line.replaceAll("\\s+", " "))
                    .findFirst()
                    .orElse(before);
        } catch (IOException e) {
            // Another operating system, or the process has just ended.
            return before;
        }
    }
}
