package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.TableComparison.Result;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/// Everything the demo prints, in plain lines of at most 80 characters.
final class DemoReport {

    private final PrintWriter out;
    private int step;
    private long stepStart;

    DemoReport(PrintWriter out) {
        this.out = out;
    }

    void title(int seconds) {
        out.printf(Locale.ROOT, "pgapply demo: a shop on PostgreSQL, replicated while it is open, with a crash%n");
        out.printf(
                Locale.ROOT,
                "(real servers on 127.0.0.1, %d seconds of traffic, less than two minutes in all)%n%n",
                seconds);
        out.flush();
    }

    /// Begins a step: its line stays open until [#done()].
    void step(String what) {
        step++;
        stepStart = System.nanoTime();
        out.printf(Locale.ROOT, "%d  %-62s", step, what);
        out.flush();
    }

    Duration done() {
        Duration took = Duration.ofNanos(System.nanoTime() - stepStart);
        out.printf(Locale.ROOT, "%10s%n", text(took));
        out.flush();
        return took;
    }

    void detail(String text) {
        out.println("     " + text);
        out.flush();
    }

    void server(String name, PostgresServer server, String database) {
        detail(String.format(Locale.ROOT, "%s  %s", name, server.uri(database)));
    }

    void line(String text) {
        out.println(text);
        out.flush();
    }

    /// A step that prints lines of its own while it lasts.
    void longStep(String what) {
        step++;
        out.printf(Locale.ROOT, "%d  %s%n", step, what);
        detail(String.format(Locale.ROOT, "%6s %16s %12s %10s", "second", "transactions/s", "rows/s", "lag"));
    }

    void traffic(int second, double transactions, double rows, Duration lag) {
        detail(String.format(Locale.ROOT, "%6d %,16.0f %,12.0f %10s", second, transactions, rows, text(lag)));
    }

    void compared(List<Result> results) {
        for (Result result : results) {
            detail(String.format(
                    Locale.ROOT,
                    "%-24s %,12d rows   %s",
                    result.table(),
                    result.sourceRows(),
                    result.identical()
                            ? "identical"
                            : String.format(
                                    Locale.ROOT,
                                    "DIFFERENT: %,d only on the source, %,d only on the target",
                                    result.onlySource(),
                                    result.onlyTarget())));
        }
    }

    /// What happened while the shop was open.
    ///
    /// @param transactions committed on the source
    /// @param rows written by them
    /// @param outage from the kill to the first transaction that the new applier has applied
    record Traffic(long transactions, long rows, Duration time, LagProbe.Lags lags, Duration outage) {}

    void summary(long copied, Duration copying, Traffic traffic, List<Result> results, Duration total) {
        long rows = results.stream().mapToLong(Result::sourceRows).sum();
        boolean identical = results.stream().allMatch(Result::identical);
        LagProbe.Lags lags = traffic.lags();
        out.println();
        out.println(identical ? "Identical." : "DIFFERENT. This is a bug: please report it.");
        row("copied", String.format(Locale.ROOT, "%,d rows, %,.0f a second", copied, perSecond(copied, copying)));
        row(
                "replicated",
                String.format(
                        Locale.ROOT,
                        "%,d transactions (%,.0f a second) with %,d rows",
                        traffic.transactions(),
                        perSecond(traffic.transactions(), traffic.time()),
                        traffic.rows()));
        row(
                "lag",
                String.format(
                        Locale.ROOT,
                        "median %s, highest %s, last %s",
                        text(lags.middle()),
                        text(lags.longest()),
                        text(lags.last())));
        row(
                "crash",
                String.format(
                        Locale.ROOT,
                        "SIGKILL; applying again %s later%s",
                        text(traffic.outage()),
                        identical ? ", nothing lost, nothing applied twice" : ""));
        row("compared", String.format(Locale.ROOT, "%,d rows of %d tables", rows, results.size()));
        row("took", String.format(Locale.ROOT, "%s", text(total)));
        out.println();
        out.flush();
    }

    private void row(String name, String text) {
        out.printf(Locale.ROOT, "  %-12s%s%n", name, text);
    }

    void howToLook(PostgresServer source, PostgresServer target, DemoApplier applier) {
        line("Servers and applier keep running. Change a row on the source, see it on the target:");
        detail(String.format(Locale.ROOT, "psql %s   # source", source.uri(Shop.DATABASE)));
        detail(String.format(Locale.ROOT, "psql %s   # target", target.uri(Shop.DATABASE)));
        detail(String.format(Locale.ROOT, "tail -f %s", applier.log()));
        line("To end it:");
        detail(String.format(
                Locale.ROOT,
                "kill -INT %d %d %d; sleep 2; rm -rf %s",
                applier.pid(),
                source.pid(),
                target.pid(),
                applier.folder()));
    }

    private static double perSecond(long count, Duration duration) {
        return count * 1e9 / Math.max(1, duration.toNanos());
    }

    static String text(Duration duration) {
        double millis = duration.toNanos() / 1e6;
        if (millis >= 1000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1000);
        }
        return String.format(Locale.ROOT, millis < 10 ? "%.1f ms" : "%.0f ms", millis);
    }

    static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%,d MB", Math.round(bytes / 1e6));
    }
}
