package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// SIGKILL at any moment, while transactions are open, streamed and prepared. Long runs:
/// `-Dpgapply.kills=1000`.
@Tag("robustness")
final class StreamKillsIT {

    private static final Map<String, String> SMALL_AND_QUICK_TO_START =
            Map.of("PGAPPLY_JAVA_OPTS", "-Xmx256m", "PGAPPLY_TIER", "1");

    private final long seed = Long.getLong("pgapply.seed", System.nanoTime());
    private final RandomGenerator random = new SplittableRandom(seed);

    @TempDir
    private Path spool;

    /// B080 with open and prepared transactions.
    @Test
    void aKilledProcessLosesAndRepeatsNothing() throws InterruptedException {
        int kills = Integer.getInteger("pgapply.kills", 5);
        System.out.println("StreamKillsIT: -Dpgapply.seed=" + seed + ", kills: " + kills);
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE counters (id int PRIMARY KEY, n int)",
                    "CREATE TABLE log (i int, v text)",
                    "CREATE TABLE keyed (id int PRIMARY KEY, v text)");
            replication.source().execute("INSERT INTO counters SELECT g, 0 FROM generate_series(1, 20) g");
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            try (Launcher first = start(replication)) {
                replication.awaitApplied();
                assertTrue(first.isRunning(), first::stderr);
            }
            Workload workload = new Workload(replication.source(), new SplittableRandom(random.nextLong()));
            workload.start();
            for (int i = 0; i < kills; i++) {
                try (Launcher run = start(replication)) {
                    awaitRandomMoment(replication, run);
                    assertTrue(run.isRunning(), () -> "seed " + seed + ": " + run.stderr());
                    run.kill();
                }
            }
            workload.stop();
            try (Launcher last = start(replication, "--until", "now")) {
                assertEquals(0, last.awaitExit(Duration.ofMinutes(30)), () -> "seed " + seed + ": " + last.stderr());
            }
            System.out.println("StreamKillsIT: " + workload.counts() + ", streamed: " + memory.streamed());
            replication.assertIdentical();
            assertTrue(memory.streamed() > 0);
            assertEquals(List.of(), replication.target().preparedTransactions());
            assertEquals(
                    "0",
                    replication
                            .target()
                            .query("SELECT count(*) FROM pgapply.prepared")
                            .orElseThrow());
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }

    private Launcher start(Replication replication, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "--two-phase",
                "--streaming",
                random.nextBoolean() ? "on" : "parallel",
                "--spool-dir",
                spool.toString(),
                "--spool-memory",
                "16kB",
                "--group-rows",
                random.nextBoolean() ? "100" : "20000"));
        arguments.addAll(List.of(more));
        return replication.run(SMALL_AND_QUICK_TO_START, arguments.toArray(String[]::new));
    }

    /// Some kills come before anything is applied, most while something is.
    private void awaitRandomMoment(Replication replication, Launcher run) throws InterruptedException {
        if (random.nextInt(5) == 0) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(2_500));
            return;
        }
        Lsn before = replication.progress();
        Await.until("the run has applied something", () -> {
            assertTrue(run.isRunning(), () -> "seed " + seed + ": " + run.stderr());
            return replication.progress().isAfter(before);
        });
        TimeUnit.MILLISECONDS.sleep(random.nextInt(random.nextBoolean() ? 300 : 2_500));
    }

    /// Transactions large and small; each that is prepared has a counter of its own, so that nothing waits for
    /// it.
    private static final class Workload {

        private static final int PREPARED_AT_ONCE = 4;

        private final TestDatabase source;
        private final RandomGenerator random;
        private final AtomicBoolean stopping = new AtomicBoolean();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        /// What is prepared, with the counter that it holds.
        private final Map<Integer, Integer> prepared = new TreeMap<>();
        private final Thread thread;
        private int serial;
        private int committed;
        private int preparedInAll;
        private int rolledBack;

        Workload(TestDatabase source, RandomGenerator random) {
            this.source = source;
            this.random = random;
            this.thread = Thread.ofPlatform().name("workload").unstarted(this::run);
        }

        void start() {
            thread.start();
        }

        /// Decides what is prepared still.
        void stop() throws InterruptedException {
            stopping.set(true);
            thread.join();
            Throwable failed = failure.get();
            if (failed != null) {
                throw new AssertionError("the workload failed", failed);
            }
        }

        String counts() {
            return committed + " committed, " + preparedInAll + " prepared, " + rolledBack + " rolled back";
        }

        private void run() {
            try (Connection connection = source.connect();
                    Statement statement = connection.createStatement()) {
                while (!stopping.get()) {
                    transaction(statement);
                    if (!prepared.isEmpty() && (prepared.size() >= PREPARED_AT_ONCE || random.nextInt(3) == 0)) {
                        decide(statement);
                    }
                    TimeUnit.MILLISECONDS.sleep(random.nextInt(80));
                }
                while (!prepared.isEmpty()) {
                    decide(statement);
                }
            } catch (SQLException | RuntimeException | InterruptedException e) {
                failure.set(e);
            }
        }

        private void decide(Statement statement) throws SQLException {
            int number = List.copyOf(prepared.keySet()).get(random.nextInt(prepared.size()));
            prepared.remove(number);
            statement.execute((random.nextInt(3) == 0 ? "ROLLBACK" : "COMMIT") + " PREPARED '" + number + "'");
        }

        private void transaction(Statement statement) throws SQLException {
            int number = ++serial;
            boolean prepares = random.nextInt(3) == 0;
            int counter = prepares ? freeCounter() : random.nextInt(10, 21);
            statement.execute("BEGIN");
            int rows = random.nextInt(4) == 0 ? random.nextInt(1, 5) : random.nextInt(300, 1500);
            statement.execute("INSERT INTO log SELECT " + number + ", repeat('v', g % 50) FROM generate_series(1, "
                    + rows + ") g");
            if (random.nextBoolean()) {
                statement.execute("SAVEPOINT s");
                statement.execute("UPDATE counters SET n = n + 1000000 WHERE id = " + counter);
                statement.execute("INSERT INTO log SELECT -" + number + ", 'back' FROM generate_series(1, 300)");
                statement.execute("ROLLBACK TO s");
            }
            statement.execute("UPDATE counters SET n = n + 1 WHERE id = " + counter);
            statement.execute("INSERT INTO keyed SELECT " + number * 1000 + " + g, 'k' FROM generate_series(1, 20) g");
            statement.execute("UPDATE keyed SET v = 'changed' WHERE id > " + number * 1000 + " AND id % 3 = 0");
            if (random.nextInt(6) == 0) {
                statement.execute("ROLLBACK");
                rolledBack++;
            } else if (prepares) {
                statement.execute("PREPARE TRANSACTION '" + number + "'");
                prepared.put(number, counter);
                preparedInAll++;
            } else {
                statement.execute("COMMIT");
                committed++;
            }
        }

        /// Those up to 9 are for prepared transactions.
        private int freeCounter() {
            int counter = 1;
            while (prepared.containsValue(counter)) {
                counter++;
            }
            return counter;
        }
    }
}
