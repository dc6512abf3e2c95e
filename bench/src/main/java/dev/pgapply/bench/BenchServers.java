package dev.pgapply.bench;

import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.engine.ApplyEngine;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.TableComparison;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A source and a target server, and what all measurements need of them.
record BenchServers(PostgresServer source, PostgresServer target) implements AutoCloseable {

    private static final long MILLIS_PER_TICK = 10;

    /// The databases of one measurement: one on the source, one target for each subscriber.
    record Databases(String from, String toOwn, String toOurs, String subscription) {

        static Databases of(String name, int round) {
            String suffix = "_" + name.replace('-', '_') + "_" + round;
            return new Databases("s" + suffix, "n" + suffix, "p" + suffix, "b" + suffix);
        }

        String own() {
            return "own_" + subscription;
        }
    }

    static BenchServers start() {
        return new BenchServers(server(), server());
    }

    private static PostgresServer server() {
        return PostgresServer.major(18)
                .setting("shared_buffers", "512MB")
                .setting("max_wal_size", "4GB")
                .setting("fsync", "on")
                .setting("autovacuum", "off")
                .start();
    }

    /// Makes the tables and both subscriptions; neither runs afterwards.
    void prepare(Workload workload, Databases names) throws InterruptedException {
        List<String> statements = new ArrayList<>(workload.tables());
        statements.addAll(workload.fill());
        source.execute("postgres", "CREATE DATABASE " + names.from());
        source.execute(names.from(), statements.toArray(String[]::new));
        source.execute(names.from(), workload.procedure());
        for (String database : List.of(names.toOwn(), names.toOurs())) {
            target.execute("postgres", "CREATE DATABASE " + database);
            target.execute(database, statements.toArray(String[]::new));
            target.execute(database, "ANALYZE");
        }
        run(subscription(workload, names, Optional.of(new Subscription.Until.Now()), 0), event -> {});
        target.execute(
                names.toOwn(),
                "CREATE SUBSCRIPTION " + names.own() + " CONNECTION 'host=127.0.0.1 port=" + source.port()
                        + " user=postgres dbname=" + names.from() + "' PUBLICATION pgapply_" + names.subscription()
                        + " WITH (copy_data = false, enabled = false)");
        source.execute("postgres", "CHECKPOINT");
        target.execute("postgres", "CHECKPOINT");
    }

    /// Removes everything of a measurement.
    void remove(Databases names) {
        target.execute(names.toOwn(), "DROP SUBSCRIPTION " + names.own());
        source.query(names.from(), "SELECT pg_drop_replication_slot('pgapply_" + names.subscription() + "')");
        target.query(names.toOurs(), "SELECT pg_replication_origin_drop('pgapply_" + names.subscription() + "')");
        source.execute("postgres", "DROP DATABASE " + names.from());
        target.execute("postgres", "DROP DATABASE " + names.toOwn(), "DROP DATABASE " + names.toOurs());
    }

    /// @param targetPort 0 for the server's own
    Subscription subscription(Workload workload, Databases names, Optional<Subscription.Until> until, int targetPort) {
        Subscription.Writer standard = Subscription.Writer.DEFAULT;
        PostgresEndpoint to = target.endpoint(names.toOurs());
        if (targetPort != 0) {
            to = new PostgresEndpoint(
                    List.of(new PostgresEndpoint.Host("127.0.0.1", targetPort)),
                    to.database(),
                    to.user(),
                    Optional::empty,
                    Map.of());
        }
        return new Subscription(
                names.subscription(),
                source.endpoint(names.from()),
                to,
                List.of(),
                Optional.empty(),
                false,
                Duration.ofSeconds(30),
                new Subscription.Copy(false, Subscription.TargetRows.KEEP, 1),
                until,
                Boolean.getBoolean("pgapply.bench.text") ? Subscription.Binary.OFF : Subscription.Binary.AUTO,
                Subscription.Origin.ANY,
                Subscription.Streaming.DEFAULT,
                false,
                Optional.empty(),
                new Subscription.Writer(
                        workload.grouping(),
                        Integer.getInteger("pgapply.bench.rows", standard.groupRows()),
                        Long.getLong("pgapply.bench.bytes", standard.groupBytes()),
                        standard.groupAge(),
                        standard.synchronousCommit()),
                false,
                Duration.ofSeconds(10),
                Optional.empty());
    }

    static void run(Subscription subscription, EngineListener listener) throws InterruptedException {
        try (ApplyEngine engine = new ApplyEngine(subscription, listener)) {
            engine.run();
        }
    }

    void requireIdentical(String from, String to) throws SQLException {
        try (Connection left = source.connect(from);
                Connection right = target.connect(to)) {
            for (TableComparison.Result result :
                    TableComparison.ofPostgres(left, right).compareAll()) {
                if (!result.identical()) {
                    throw new IllegalStateException(to + ": " + result.describe());
                }
            }
        }
    }

    /// CPU milliseconds of the busiest of some processes of a server.
    ///
    /// @param which a condition on `pg_stat_activity`
    static long cpu(PostgresServer server, String which) {
        return server
                .query("postgres", "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE " + which)
                .stream()
                .flatMap(pids -> Arrays.stream(pids.split(",", -1)))
                .mapToLong(pid -> cpu(Long.parseLong(pid)))
                .max()
                .orElse(0);
    }

    /// User and system time of a process so far in milliseconds; 0 once it is gone.
    static long cpu(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MILLIS_PER_TICK;
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
