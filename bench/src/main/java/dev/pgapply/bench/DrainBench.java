package dev.pgapply.bench;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription;
import dev.pgapply.bench.BenchServers.Databases;
import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// Drains the same backlog once by the server's own subscription and once by pgapply, round by round, checks
/// that the rows are identical, and prints medians, ratios and the CPU that went where.
final class DrainBench {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final BenchServers servers;
    private final boolean oursOnly;

    DrainBench(BenchServers servers, boolean oursOnly) {
        this.servers = servers;
        this.oursOnly = oursOnly;
    }

    /// One drain, with CPU seconds.
    ///
    /// @param writer the process that writes: the server's apply worker, or the backend of pgapply's connection
    /// @param jvm of pgapply, the harness included
    private record Drain(double seconds, double walsender, double writer, double jvm, int inOrder) {}

    static void printHead() {
        System.out.printf(
                Locale.ROOT,
                "%-26s %10s %10s %7s   %s%n",
                "workload",
                "server's",
                "pgapply",
                "ratio",
                "CPU: walsender + apply worker | walsender + backend + JVM; load before");
    }

    void measure(Workload workload, int rounds) throws Exception {
        List<Drain> own = new ArrayList<>();
        List<Drain> ours = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        double load = java.lang.management.ManagementFactory.getOperatingSystemMXBean()
                .getSystemLoadAverage();
        for (int round = 0; round < rounds; round++) {
            Databases names = Databases.of(workload.name(), round);
            servers.prepare(workload, names);
            servers.source().execute(names.from(), "SET synchronous_commit = off", "CALL backlog()", "CHECKPOINT");
            Lsn end = Lsn.parse(servers.source()
                    .query(names.from(), "SELECT pg_current_wal_flush_lsn()")
                    .orElseThrow());
            boolean oursFirst = round % 2 == 1;
            Drain drain = oursFirst ? drainOurs(workload, names, end) : null;
            Drain theirs = oursOnly ? new Drain(0, 0, 0, 0, 0) : drainOwn(workload, names, end);
            Drain measured = drain == null ? drainOurs(workload, names, end) : drain;
            own.add(theirs);
            ours.add(measured);
            ratios.add(theirs.seconds() / measured.seconds());
            if (!oursOnly) {
                servers.requireIdentical(names.from(), names.toOwn());
            }
            servers.requireIdentical(names.from(), names.toOurs());
            servers.remove(names);
        }
        print(
                workload,
                median(own),
                median(ours),
                ratios.stream().sorted().toList().get(rounds / 2),
                load);
    }

    private static void print(Workload workload, Drain own, Drain ours, double ratio, double load) {
        System.out.printf(
                Locale.ROOT,
                "%-26s %9.2fs %9.2fs %6.2fx   %.1f + %.1f | %.1f + %.1f + %.1f s; %.1f%s%n",
                workload.name(),
                own.seconds(),
                ours.seconds(),
                ratio,
                own.walsender(),
                own.writer(),
                ours.walsender(),
                ours.writer(),
                ours.jvm(),
                load,
                ours.inOrder() > 0 ? "; " + ours.inOrder() + " groups in order" : "");
    }

    private Drain drainOurs(Workload workload, Databases names, Lsn end) throws InterruptedException {
        AtomicLong started = new AtomicLong();
        AtomicLong jvmAtStart = new AtomicLong();
        AtomicLong walsender = new AtomicLong();
        AtomicLong backend = new AtomicLong();
        AtomicInteger inOrder = new AtomicInteger();
        long self = ProcessHandle.current().pid();
        try (DelayingProxy proxy = new DelayingProxy(servers.target().port(), workload.delayMillis())) {
            Subscription subscription = servers.subscription(
                    workload,
                    names,
                    Optional.of(new Subscription.Until.Position(end)),
                    workload.delayMillis() > 0 ? proxy.port() : 0);
            BenchServers.run(subscription, event -> {
                switch (event) {
                    case EngineEvent.StreamingStarted ignored -> {
                        started.set(System.nanoTime());
                        jvmAtStart.set(BenchServers.cpu(self));
                    }
                    case EngineEvent.Confirmed ignored -> {
                        walsender.set(BenchServers.cpu(
                                servers.source(),
                                "backend_type = 'walsender' AND application_name = 'pgapply/" + names.subscription()
                                        + "'"));
                        backend.set(BenchServers.cpu(
                                servers.target(),
                                "backend_type = 'client backend' AND application_name = 'pgapply/"
                                        + names.subscription() + "'"));
                    }
                    case EngineEvent.AppliedInOrder ignored -> inOrder.incrementAndGet();
                    default -> {}
                }
            });
        }
        double seconds = (System.nanoTime() - started.get()) / 1e9;
        return new Drain(
                seconds,
                walsender.get() / 1000.0,
                backend.get() / 1000.0,
                (BenchServers.cpu(self) - jvmAtStart.get()) / 1000.0,
                inOrder.get());
    }

    private Drain drainOwn(Workload workload, Databases names, Lsn end) throws InterruptedException {
        long start = System.nanoTime();
        servers.target().execute(names.toOwn(), "ALTER SUBSCRIPTION " + names.own() + " ENABLE");
        String reached = "SELECT 1 FROM pg_replication_slots WHERE slot_name = '" + names.own()
                + "' AND confirmed_flush_lsn >= '" + end + "'";
        while (servers.source().query("postgres", reached).isEmpty()) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new IllegalStateException("the server's own subscription does not finish " + workload.name());
            }
            Thread.sleep(5);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long walsender = BenchServers.cpu(
                servers.source(), "backend_type = 'walsender' AND application_name = '" + names.own() + "'");
        long worker = BenchServers.cpu(
                servers.target(),
                "backend_type = 'logical replication apply worker' AND datname = '" + names.toOwn() + "'");
        servers.target().execute(names.toOwn(), "ALTER SUBSCRIPTION " + names.own() + " DISABLE");
        return new Drain(seconds, walsender / 1000.0, worker / 1000.0, 0, 0);
    }

    private static Drain median(List<Drain> drains) {
        return drains.stream()
                .sorted(Comparator.comparingDouble(Drain::seconds))
                .toList()
                .get(drains.size() / 2);
    }
}
