package dev.pgapply.cli.embedded.demo;

import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// Watches the open shop: a line every few seconds, the crash at half time.
final class DemoTraffic {

    private static final long TICK_MILLIS = 10;

    private final ShopWorkload workload;
    private final LagProbe lag;
    private final TargetProgress progress;
    private final DemoApplier applier;
    private final DemoReport report;
    private final long start = System.nanoTime();

    private long killedAt;
    private Lsn positionAtKill = Lsn.INVALID;
    private Duration outage = Duration.ZERO;

    DemoTraffic(ShopWorkload workload, LagProbe lag, TargetProgress progress, DemoApplier applier, DemoReport report) {
        this.workload = workload;
        this.lag = lag;
        this.progress = progress;
        this.applier = applier;
        this.report = report;
    }

    /// Returns after so many seconds of traffic.
    void watch(int seconds, int secondsPerLine) throws InterruptedException {
        long linesAt = start;
        long transactions = 0;
        long rows = 0;
        for (int second = secondsPerLine; second <= seconds; second += secondsPerLine) {
            awaitSecond(second);
            double elapsed = (System.nanoTime() - linesAt) / 1e9;
            linesAt = System.nanoTime();
            report.traffic(
                    second,
                    (workload.transactions() - transactions) / elapsed,
                    (workload.rows() - rows) / elapsed,
                    lag.current());
            transactions = workload.transactions();
            rows = workload.rows();
            if (killedAt == 0 && second * 2 >= seconds) {
                crash();
            }
        }
    }

    private void awaitSecond(int second) throws InterruptedException {
        long due = start + TimeUnit.SECONDS.toNanos(second);
        while (System.nanoTime() < due) {
            TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
            workload.check();
            lag.check();
            applier.check();
            noticeResumption();
        }
    }

    private void crash() {
        report.detail(String.format(
                Locale.ROOT, "       process %d is killed (SIGKILL), and pgapply run started again", applier.pid()));
        killedAt = System.nanoTime();
        applier.kill();
        positionAtKill = progress.position();
        applier.start();
    }

    /// To be called again and again after the kill, until it has noticed.
    void noticeResumption() {
        if (killedAt != 0 && outage.isZero() && progress.position().isAfter(positionAtKill)) {
            outage = Duration.ofNanos(System.nanoTime() - killedAt);
        }
    }

    /// To be asked when the target has caught up.
    DemoReport.Traffic result() {
        return new DemoReport.Traffic(
                workload.transactions(),
                workload.rows(),
                Duration.ofNanos(System.nanoTime() - start),
                lag.lags(),
                outage);
    }
}
