package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.TableComparison;
import dev.pgapply.cli.embedded.TableComparison.Result;
import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/// What happens between two running servers, step by step. For one run, on one thread.
final class DemoSteps {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int SECONDS_PER_LINE = 2;

    private final PostgresServer source;
    private final PostgresServer target;
    private final DemoApplier applier;
    private final DemoReport report;

    DemoSteps(PostgresServer source, PostgresServer target, DemoApplier applier, DemoReport report) {
        this.source = source;
        this.target = target;
        this.applier = applier;
        this.report = report;
    }

    /// Runs all steps.
    ///
    /// @param seconds how long the shop is open
    /// @param start the demo's, in nanoseconds of the JVM
    /// @return whether both sides were identical at the end
    boolean run(int seconds, long start) throws InterruptedException {
        Shop.Size size = fill();
        Duration copying = copy(size);
        DemoReport.Traffic traffic = openShop(seconds);
        catchUp();
        List<Result> results = compare();
        report.summary(size.rows(), copying, traffic, results, Duration.ofNanos(System.nanoTime() - start));
        return results.stream().allMatch(Result::identical);
    }

    private Shop.Size fill() {
        report.step("Create the same tables on both, fill those of the source");
        Shop.createTables(source);
        Shop.createTables(target);
        Shop.fill(source);
        Shop.Size size = size(source);
        report.done();
        report.detail(String.format(
                Locale.ROOT,
                "%d tables, %,d rows, %s",
                size.tables(),
                size.rows(),
                DemoReport.megabytes(size.bytes())));
        return size;
    }

    private Duration copy(Shop.Size size) throws InterruptedException {
        report.step("Start: pgapply run --name demo --source ... --target ...");
        applier.start();
        await("the first copy does not end", () -> size(target).rows() == size.rows());
        Duration took = report.done();
        report.detail(String.format(
                Locale.ROOT, "%,d rows copied; process %d, at most 256 MB of heap", size.rows(), applier.pid()));
        return took;
    }

    private DemoReport.Traffic openShop(int seconds) throws InterruptedException {
        report.longStep("Open the shop; each change is applied as it is committed");
        try (TargetProgress progress = new TargetProgress(target);
                LagProbe lag = new LagProbe(source, target);
                ShopWorkload workload = ShopWorkload.start(source)) {
            DemoTraffic traffic = new DemoTraffic(workload, lag, progress, applier, report);
            traffic.watch(seconds, SECONDS_PER_LINE);
            workload.stop();
            int beats = lag.beats();
            await("the target does not catch up", () -> {
                traffic.noticeResumption();
                return lag.beats() >= beats + 2;
            });
            return traffic.result();
        }
    }

    private void catchUp() throws InterruptedException {
        report.step("Close the shop, wait until everything is confirmed");
        String position =
                source.query(Shop.DATABASE, "SELECT pg_current_wal_flush_lsn()").orElseThrow();
        Lsn end = Lsn.parse(position);
        await("the target does not catch up", () -> confirmed().compareTo(end) >= 0);
        report.done();
    }

    private Lsn confirmed() {
        return source.query(
                        Shop.DATABASE,
                        "SELECT max(confirmed_flush_lsn) FROM pg_replication_slots WHERE database = current_database()")
                .map(Lsn::parse)
                .orElse(Lsn.INVALID);
    }

    private List<Result> compare() {
        report.step("Compare every row of both sides as text");
        try (Connection left = source.connect(Shop.DATABASE);
                Connection right = target.connect(Shop.DATABASE)) {
            List<Result> results = TableComparison.ofPostgres(left, right).compareAll();
            report.done();
            report.compared(results);
            return results;
        } catch (SQLException e) {
            throw new DemoException("a server does not answer", e);
        }
    }

    private static Shop.Size size(PostgresServer server) {
        try (Connection connection = server.connect(Shop.DATABASE)) {
            return Shop.size(connection);
        } catch (SQLException e) {
            throw new DemoException("a server does not answer: " + e.getMessage(), e);
        }
    }

    private void await(String otherwise, Callable<Boolean> condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (!condition.call()) {
                applier.check();
                if (System.nanoTime() > deadline) {
                    throw new DemoException(otherwise + applier.endOfLog());
                }
                TimeUnit.MILLISECONDS.sleep(50);
            }
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new DemoException(otherwise, e);
        }
    }
}
