package dev.pgapply.cli.embedded.demo;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// Watches the open shop: a line every few seconds, the crash at half time.
final class DemoTraffic {

    private static final long TICK_MILLIS = 10;

    private final ShopWorkload workload;
    private final LagProbe lag;
    private final DemoApplier applier;
    private final DemoReport report;
    private final long start = System.nanoTime();

    private long killedAt;
    private int beatsAtKill = Integer.MAX_VALUE;
    private Duration outage = Duration.ZERO;

    DemoTraffic(ShopWorkload workload, LagProbe lag, DemoApplier applier, DemoReport report) {
        this.workload = workload;
        this.lag = lag;
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
        beatsAtKill = lag.beats();
        applier.start();
    }

    // The beat under way at the kill may have been applied before it, the next one cannot.
    private void noticeResumption() {
        if (outage.isZero() && lag.beats() >= beatsAtKill + 2L) {
            outage = Duration.ofNanos(System.nanoTime() - killedAt);
        }
    }

    /// To be asked when the target has caught up.
    DemoReport.Traffic result() {
        noticeResumption();
        return new DemoReport.Traffic(
                workload.transactions(),
                workload.rows(),
                Duration.ofNanos(System.nanoTime() - start),
                lag.lags(),
                outage);
    }
}
