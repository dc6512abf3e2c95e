package dev.pgapply.it;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Random transactions in which a change that is lost or applied twice shows: counters, a log without a key,
/// duplicate rows found by all their columns, tables that are emptied and filled, keys that change.
final class MixedWorkload {

    private static final String[] TABLES = {
        "CREATE TABLE counters (id int PRIMARY KEY, n int)",
        "CREATE TABLE log (i int, v text)",
        "CREATE TABLE bag (a int, b text)",
        "CREATE TABLE stage (id int PRIMARY KEY, v text)",
        "CREATE TABLE moving (id int PRIMARY KEY, v int UNIQUE)"
    };

    private final TestDatabase source;
    private final RandomGenerator random;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private int serial;

    private MixedWorkload(TestDatabase source, long seed) {
        this.source = source;
        this.random = new SplittableRandom(seed);
    }

    /// Makes the tables on both sides and their first rows on the source.
    ///
    /// @param logRows how many rows the log has at first, for the copy to take some time
    static MixedWorkload prepare(Replication replication, long seed, int logRows) {
        replication.both(TABLES);
        replication
                .source()
                .execute(
                        "ALTER TABLE bag REPLICA IDENTITY FULL",
                        "INSERT INTO counters SELECT g, 0 FROM generate_series(1, 20) g",
                        "INSERT INTO log SELECT -g, repeat('x', 100) FROM generate_series(1, " + logRows + ") g",
                        "INSERT INTO bag SELECT g % 5, 'b' FROM generate_series(1, 50) g",
                        "INSERT INTO moving SELECT g, g FROM generate_series(1, 20) g");
        return new MixedWorkload(replication.source(), seed);
    }

    /// Commits so many transactions and returns.
    void run(int transactions) {
        try (Connection connection = source.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < transactions; i++) {
                transaction(connection, statement);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Commits transactions on a thread of its own, some hundred a second, as long as the body runs.
    ///
    /// @throws AssertionError if one has failed
    void during(Body body) throws InterruptedException {
        stopping.set(false);
        Thread thread = Thread.ofPlatform().name("workload").start(this::runUntilStopped);
        try {
            body.run();
        } finally {
            stopping.set(true);
            thread.join();
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw new AssertionError("the workload failed", failed);
        }
    }

    /// What happens meanwhile.
    @FunctionalInterface
    interface Body {
        void run() throws InterruptedException;
    }

    private void runUntilStopped() {
        try (Connection connection = source.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            while (!stopping.get()) {
                transaction(connection, statement);
                TimeUnit.MILLISECONDS.sleep(random.nextInt(6));
            }
        } catch (SQLException | RuntimeException | InterruptedException e) {
            failure.set(e);
        }
    }

    private void transaction(Connection connection, Statement statement) throws SQLException {
        for (int left = random.nextInt(1, 4); left > 0; left--) {
            for (String sql : step()) {
                statement.execute(sql);
            }
        }
        if (random.nextInt(10) == 0) {
            connection.rollback();
        } else {
            connection.commit();
        }
    }

    private String[] step() {
        return switch (random.nextInt(9)) {
            case 0 -> new String[] {"INSERT INTO log VALUES (" + ++serial + ", 'v')"};
            case 1 ->
                new String[] {
                    "INSERT INTO log SELECT " + ++serial + ", repeat('y', g) FROM generate_series(1, "
                            + random.nextInt(1, 100) + ") g"
                };
            case 2, 3 -> new String[] {"UPDATE counters SET n = n + 1 WHERE id % " + random.nextInt(1, 9) + " = 0"};
            case 4 ->
                new String[] {"INSERT INTO bag SELECT " + random.nextInt(5) + ", 'b' FROM generate_series(1, 3) g"};
            case 5 ->
                new String[] {
                    "UPDATE bag SET b = 'c" + random.nextInt(3) + "' WHERE ctid = (SELECT min(ctid) FROM bag WHERE a = "
                            + random.nextInt(5) + ")"
                };
            case 6 ->
                new String[] {
                    "DELETE FROM bag WHERE ctid IN (SELECT ctid FROM bag WHERE a = " + random.nextInt(5)
                            + " ORDER BY ctid LIMIT 2)"
                };
            case 7 ->
                new String[] {
                    "TRUNCATE stage",
                    "INSERT INTO stage SELECT g, 's" + ++serial + "' FROM generate_series(1, " + random.nextInt(20)
                            + ") g"
                };
            default ->
                new String[] {
                    "UPDATE moving SET id = (SELECT max(id) + 1 FROM moving) WHERE id = (SELECT min(id) FROM moving)",
                    "UPDATE moving SET v = -v WHERE id % 2 = " + random.nextInt(2)
                };
        };
    }
}
