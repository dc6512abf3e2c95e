package dev.pgapply.cli.output;

import dev.pgapply.cli.text.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/// The table at the end of a run, which people paste into tickets.
final class Summary {

    private Summary() {}

    static String of(
            CopyMeter copy,
            StreamMeter stream,
            Map<String, Long> conflicts,
            Map<String, Long> inOrder,
            Duration elapsed,
            Instant now) {
        StringBuilder text = new StringBuilder("summary after ").append(Quantity.ofDuration(elapsed));
        if (stream.confirmed().isValid()) {
            text.append(", confirmed up to ").append(stream.confirmed());
        }
        text.append('\n')
                .append(new Table()
                        .row("", "tables", "rows", "bytes", "time")
                        .row(
                                "copied",
                                Quantity.ofCount(copy.copiedTables()),
                                Quantity.ofCount(copy.copiedRows()),
                                Quantity.ofBytes(copy.copiedBytes()),
                                Quantity.ofDuration(copy.elapsed(now))));
        text.append('\n')
                .append(new Table()
                        .row("", "transactions", "rows", "highest lag", "last lag")
                        .row(
                                "applied",
                                Quantity.ofCount(stream.transactions()),
                                Quantity.ofCount(stream.rows()),
                                lag(stream.highestLagBytes(), stream.highestLag()),
                                lag(stream.lagBytes(), stream.lag(now))));
        count(text, "skipped conflicts", conflicts);
        count(text, "groups without sets", inOrder);
        return text.toString();
    }

    private static void count(StringBuilder text, String title, Map<String, Long> counts) {
        if (!counts.isEmpty()) {
            Table table = new Table().row(title, "count");
            counts.forEach((what, count) -> table.row(what, Quantity.ofCount(count)));
            text.append('\n').append(table);
        }
    }

    private static String lag(long bytes, Duration time) {
        return Quantity.ofBytes(bytes) + " / " + Quantity.ofDuration(time);
    }
}
