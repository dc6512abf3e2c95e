package dev.pgapply.bench;

import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.engine.ApplyEngine;
import dev.pgapply.bench.BenchServers.Databases;
import dev.pgapply.cli.embedded.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/// From commit at the source to visible at the target, at a steady 500 pgbench transactions a second.
final class LatencyBench {

    private static final int PER_SECOND = 500;
    private static final int WARM_UP = 5 * PER_SECOND;
    private static final long POLL_NANOS = 200_000;

    private final BenchServers servers;
    private final int transactions;
    private int base;

    /// @param seconds how long to measure, after the warm-up
    LatencyBench(BenchServers servers, int seconds) {
        this.servers = servers;
        this.transactions = WARM_UP + seconds * PER_SECOND;
    }

    void measure() throws Exception {
        System.out.printf(Locale.ROOT, "%-26s %10s %10s %10s%n", "latency at 500 tx/s", "p50 ms", "p90 ms", "p99 ms");
        Workload workload = Workload.pgbench("latency", 1);
        Databases names = Databases.of("latency", 0);
        servers.prepare(workload, names);
        servers.target().execute(names.toOwn(), "ALTER SUBSCRIPTION " + names.own() + " ENABLE");
        print("the server's own", run(names, names.toOwn()));
        servers.target().execute(names.toOwn(), "ALTER SUBSCRIPTION " + names.own() + " DISABLE");
        Subscription subscription = servers.subscription(workload, names, Optional.empty(), 0);
        Thread thread;
        try (ApplyEngine engine = new ApplyEngine(subscription, event -> {})) {
            thread = Thread.ofPlatform().name("engine").start(() -> {
                try {
                    engine.run();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            print("pgapply", run(names, names.toOurs()));
        }
        thread.join();
        servers.remove(names);
    }

    private static void print(String who, double[] millis) {
        double[] sorted = millis.clone();
        Arrays.sort(sorted);
        System.out.printf(
                Locale.ROOT,
                "%-26s %10.2f %10.2f %10.2f%n",
                who,
                sorted[sorted.length / 2],
                sorted[sorted.length * 9 / 10],
                sorted[sorted.length * 99 / 100]);
    }

    private double[] run(Databases names, String to) throws SQLException, InterruptedException {
        long[] committed = new long[transactions];
        base += transactions;
        servers.source().execute(names.from(), "INSERT INTO history VALUES (1, 1, 1, " + base + ", now(), NULL)");
        awaitRow(servers.target(), to, base);
        Thread writer = Thread.ofPlatform().name("writer").start(() -> write(names.from(), committed));
        long[] seen = poll(to);
        writer.join();
        double[] millis = new double[transactions - WARM_UP];
        for (int i = 0; i < millis.length; i++) {
            millis[i] = (seen[WARM_UP + i] - committed[WARM_UP + i]) / 1e6;
        }
        return millis;
    }

    private static void awaitRow(PostgresServer target, String database, int delta) throws InterruptedException {
        while (target.query(database, "SELECT 1 FROM history WHERE delta = " + delta)
                .isEmpty()) {
            Thread.sleep(10);
        }
    }

    /// One transaction every 2 ms; `delta` of its history row is its number, counted from 1 behind the base.
    private void write(String database, long[] committed) {
        try (Connection connection = servers.source().connect(database);
                PreparedStatement change = connection.prepareStatement(
                        "WITH a AS (UPDATE accounts SET abalance = abalance + 1 WHERE aid = ?),"
                                + " t AS (UPDATE tellers SET tbalance = tbalance + 1 WHERE tid = ?),"
                                + " b AS (UPDATE branches SET bbalance = bbalance + 1 WHERE bid = ?)"
                                + " INSERT INTO history VALUES (1, 1, 1, ?, now(), NULL)")) {
            try (var statement = connection.createStatement()) {
                statement.execute("SET synchronous_commit = off");
            }
            long due = System.nanoTime();
            for (int i = 0; i < transactions; i++) {
                while (System.nanoTime() < due) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                change.setInt(1, 1 + i * 7919 % 1_000_000);
                change.setInt(2, 1 + i % 100);
                change.setInt(3, 1 + i % 10);
                change.setInt(4, base + 1 + i);
                change.executeUpdate();
                committed[i] = System.nanoTime();
                due += 1_000_000_000L / PER_SECOND;
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /// When each transaction could be seen first.
    private long[] poll(String database) throws SQLException {
        long[] seen = new long[transactions];
        servers.target().execute(database, "CREATE INDEX IF NOT EXISTS history_delta ON history (delta)");
        try (Connection connection = servers.target().connect(database);
                PreparedStatement query = connection.prepareStatement(
                        "SELECT coalesce((SELECT delta FROM history ORDER BY delta DESC LIMIT 1), -1)")) {
            int next = 0;
            while (next < transactions) {
                int last;
                try (ResultSet row = query.executeQuery()) {
                    row.next();
                    last = row.getInt(1);
                }
                long now = System.nanoTime();
                while (base + 1 + next <= last) {
                    seen[next++] = now;
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
        return seen;
    }
}
