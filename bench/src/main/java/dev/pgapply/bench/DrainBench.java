package dev.pgapply.bench;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.engine.ApplyEngine;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.TableComparison;
import dev.pgapply.decoder.Lsn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/// Drains the same backlog once by the server's own subscription and once by pgapply, round by round, checks
/// that the rows are identical, and prints medians, ratios and the CPU that went where.
///
/// ```
/// java -cp … dev.pgapply.bench.DrainBench [workload] [rounds]
/// ```
public final class DrainBench {

    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final long TICKS_PER_SECOND = 100;

    private final PostgresServer source;
    private final PostgresServer target;

    private DrainBench(PostgresServer source, PostgresServer target) {
        this.source = source;
        this.target = target;
    }

    /// One drain.
    private record Drain(double seconds, double walsenderCpu, double backendCpu, double jvmCpu) {}

    public static void main(String[] arguments) throws Exception {
        String wanted = arguments.length > 0 ? arguments[0] : "";
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3;
        try (PostgresServer source = server();
                PostgresServer target = server()) {
            DrainBench bench = new DrainBench(source, target);
            System.out.printf(
                    "%-24s %10s %10s %7s   %s%n",
                    "workload", "server's", "pgapply", "ratio", "pgapply's CPU: walsender / backend / JVM");
            for (Workload workload : Workload.ALL) {
                if (workload.name().startsWith(wanted)) {
                    bench.measure(workload, rounds);
                }
            }
        }
    }

    private static PostgresServer server() {
        return PostgresServer.major(18)
                .setting("shared_buffers", "512MB")
                .setting("max_wal_size", "4GB")
                .setting("fsync", "on")
                .setting("autovacuum", "off")
                .start();
    }

    private void measure(Workload workload, int rounds) throws Exception {
        List<Double> own = new ArrayList<>();
        List<Drain> ours = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            String suffix = "_" + workload.name().replace('-', '_').toLowerCase(java.util.Locale.ROOT) + "_" + round;
            String from = "s" + suffix;
            String toOwn = "n" + suffix;
            String toOurs = "p" + suffix;
            prepare(workload, from, toOwn, toOurs);
            Subscription subscription =
                    subscription("b" + round, from, toOurs, Optional.of(new Subscription.Until.Now()));
            run(subscription, event -> {});
            target.execute(
                    toOwn,
                    "CREATE SUBSCRIPTION own" + suffix + " CONNECTION 'host=127.0.0.1 port=" + source.port()
                            + " user=postgres"
                            + " dbname=" + from + "' PUBLICATION pgapply_b" + round
                            + " WITH (copy_data = false, enabled = false)");
            source.execute(from, workload.backlog());
            Lsn end = Lsn.parse(
                    source.query(from, "SELECT pg_current_wal_flush_lsn()").orElseThrow());

            boolean oursFirst = round % 2 == 1;
            Drain drain = oursFirst ? drainOurs(subscription, end) : null;
            double seconds = drainOwn(suffix, toOwn, end);
            Drain measured = drain == null ? drainOurs(subscription, end) : drain;
            own.add(seconds);
            ours.add(measured);
            ratios.add(seconds / measured.seconds());
            requireIdentical(from, toOwn);
            requireIdentical(from, toOurs);
            target.execute(toOwn, "DROP SUBSCRIPTION own" + suffix);
            source.query(from, "SELECT pg_drop_replication_slot('pgapply_b" + round + "')");
            target.query(toOurs, "SELECT pg_replication_origin_drop('pgapply_b" + round + "')");
            source.execute("postgres", "DROP DATABASE " + from);
            target.execute("postgres", "DROP DATABASE " + toOwn, "DROP DATABASE " + toOurs);
        }
        Drain typical = ours.stream()
                .sorted(java.util.Comparator.comparingDouble(Drain::seconds))
                .toList()
                .get(ours.size() / 2);
        System.out.printf(
                "%-24s %9.2fs %9.2fs %6.2fx   %.1f / %.1f / %.1f s%n",
                workload.name(),
                median(own),
                typical.seconds(),
                median(ratios),
                typical.walsenderCpu(),
                typical.backendCpu(),
                typical.jvmCpu());
    }

    private void prepare(Workload workload, String from, String... to) {
        List<String> statements = new ArrayList<>(workload.tables());
        statements.addAll(workload.fill());
        source.execute("postgres", "CREATE DATABASE " + from);
        source.execute(from, statements.toArray(String[]::new));
        source.execute(from, workload.procedure());
        for (String database : to) {
            target.execute("postgres", "CREATE DATABASE " + database);
            target.execute(database, statements.toArray(String[]::new));
            target.execute(database, "ANALYZE");
        }
        for (String table : source.query(
                        from,
                        "SELECT string_agg(relname, ',') FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
                .orElseThrow()
                .split(",", -1)) {
            if (table.equals("history")) {
                source.execute(from, "ALTER TABLE history REPLICA IDENTITY FULL");
            }
        }
        source.execute("postgres", "CHECKPOINT");
        target.execute("postgres", "CHECKPOINT");
    }

    private Subscription subscription(String name, String from, String to, Optional<Subscription.Until> until) {
        return new Subscription(
                name,
                source.endpoint(from),
                target.endpoint(to),
                List.of(),
                Optional.empty(),
                false,
                Duration.ofSeconds(30),
                new Subscription.Copy(false, Subscription.TargetRows.KEEP, 1),
                until,
                Subscription.Binary.AUTO,
                Subscription.Origin.ANY,
                Subscription.Streaming.DEFAULT,
                false,
                Optional.empty(),
                Subscription.Writer.DEFAULT,
                false,
                Duration.ofSeconds(10),
                Optional.empty());
    }

    private static void run(Subscription subscription, dev.pgapply.apply.EngineListener listener)
            throws InterruptedException {
        try (ApplyEngine engine = new ApplyEngine(subscription, listener)) {
            engine.run();
        }
    }

    private Drain drainOurs(Subscription template, Lsn end) throws InterruptedException {
        Subscription subscription = new Subscription(
                template.name(),
                template.source(),
                template.target(),
                template.publications(),
                template.slot(),
                template.failover(),
                template.slotWait(),
                template.copy(),
                Optional.of(new Subscription.Until.Position(end)),
                template.binary(),
                template.origin(),
                template.streaming(),
                template.twoPhase(),
                template.heartbeat(),
                template.writer(),
                template.allowTriggers(),
                template.refreshInterval(),
                template.retryFor());
        AtomicLong started = new AtomicLong();
        AtomicLong cpuAtStart = new AtomicLong();
        AtomicLong walsender = new AtomicLong();
        AtomicLong backend = new AtomicLong();
        run(subscription, event -> {
            switch (event) {
                case EngineEvent.StreamingStarted ignored -> {
                    started.set(System.nanoTime());
                    cpuAtStart.set(ticks(ProcessHandle.current().pid()));
                }
                case EngineEvent.Confirmed ignored -> {
                    walsender.set(processTicks(source, "walsender", subscription.name()));
                    backend.set(processTicks(target, "client backend", subscription.name()));
                }
                default -> {}
            }
        });
        double seconds = (System.nanoTime() - started.get()) / 1e9;
        return new Drain(
                seconds,
                walsender.get() / (double) TICKS_PER_SECOND,
                backend.get() / (double) TICKS_PER_SECOND,
                (ticks(ProcessHandle.current().pid()) - cpuAtStart.get()) / (double) TICKS_PER_SECOND);
    }

    private double drainOwn(String suffix, String database, Lsn end) throws InterruptedException {
        long start = System.nanoTime();
        target.execute(database, "ALTER SUBSCRIPTION own" + suffix + " ENABLE");
        String reached = "SELECT 1 FROM pg_replication_slots WHERE slot_name = 'own" + suffix
                + "' AND confirmed_flush_lsn >= '" + end + "'";
        while (source.query("postgres", reached).isEmpty()) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new IllegalStateException("the server's own subscription does not get there");
            }
            Thread.sleep(5);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        target.execute(database, "ALTER SUBSCRIPTION own" + suffix + " DISABLE");
        return seconds;
    }

    private void requireIdentical(String from, String to) throws SQLException {
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

    /// CPU of the busiest process of a kind that belongs to this subscription.
    private static long processTicks(PostgresServer server, String kind, String name) {
        return server
                .query(
                        "postgres",
                        "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE backend_type = '" + kind
                                + "' AND application_name = 'pgapply/" + name + "'")
                .stream()
                .flatMap(pids -> java.util.Arrays.stream(pids.split(",", -1)))
                .mapToLong(pid -> ticks(Long.parseLong(pid)))
                .max()
                .orElse(0);
    }

    /// User and system time of a process so far, in clock ticks; 0 once it is gone.
    private static long ticks(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        } catch (IOException e) {
            return 0;
        }
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
