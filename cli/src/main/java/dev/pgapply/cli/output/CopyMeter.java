package dev.pgapply.cli.output;

import dev.pgapply.apply.EngineEvent.CopyProgress;
import dev.pgapply.apply.EngineEvent.CopyStarted;
import dev.pgapply.apply.EngineEvent.TableCopied;
import dev.pgapply.apply.EngineEvent.TablePlan;
import dev.pgapply.decoder.TableName;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Adds up what the copy reports. Not thread-safe, reads no clock.
final class CopyMeter {

    /// An estimate may be too low; a table that is not committed is never shown as finished.
    private static final double NEARLY_DONE = 0.99;

    /// Weight of a table that the catalog believes to be empty, in bytes: one page.
    private static final long ONE_PAGE = 8192;

    private final Map<TableName, Table> tables = new HashMap<>();
    private @Nullable Instant started;
    private Duration finished = Duration.ZERO;
    private int copiedTables;
    private long copiedRows;
    private long copiedBytes;

    private record Table(TablePlan plan, long rows, long bytes, boolean done) {

        double weight() {
            return Math.max(plan.estimatedBytes(), ONE_PAGE);
        }

        double fraction() {
            if (done) {
                return 1;
            }
            double read = 0;
            if (plan.estimatedRows() > 0) {
                read = (double) rows / plan.estimatedRows();
            } else if (plan.estimatedBytes() > 0) {
                read = (double) bytes / plan.estimatedBytes();
            }
            return Math.min(read, NEARLY_DONE);
        }
    }

    void start(CopyStarted event, Instant now) {
        for (TablePlan plan : event.tables()) {
            tables.put(plan.table(), new Table(plan, 0, 0, false));
        }
        if (started == null) {
            started = now;
        }
    }

    void progress(CopyProgress event) {
        tables.computeIfPresent(
                event.table(), (name, table) -> new Table(table.plan(), event.rows(), event.bytes(), table.done()));
    }

    void copied(TableCopied event) {
        tables.computeIfPresent(
                event.table(), (name, table) -> new Table(table.plan(), event.rows(), event.bytes(), true));
        copiedTables++;
        copiedRows += event.rows();
        copiedBytes += event.bytes();
    }

    void finish(Instant now) {
        finished = elapsed(now);
        started = null;
    }

    boolean isRunning() {
        return started != null;
    }

    /// How long tables have been copied in this run.
    Duration elapsed(Instant now) {
        return started == null ? finished : finished.plus(Duration.between(started, now));
    }

    int tables() {
        return tables.size();
    }

    int copiedTables() {
        return copiedTables;
    }

    long copiedRows() {
        return copiedRows;
    }

    long copiedBytes() {
        return copiedBytes;
    }

    /// Rows read so far, those of unfinished tables included.
    long rows() {
        return tables.values().stream().mapToLong(Table::rows).sum();
    }

    long bytes() {
        return tables.values().stream().mapToLong(Table::bytes).sum();
    }

    /// From 0 to 1, each table weighing as much as the catalog thinks that it has bytes.
    double fraction() {
        double all = tables.values().stream().mapToDouble(Table::weight).sum();
        double read = tables.values().stream()
                .mapToDouble(table -> table.weight() * table.fraction())
                .sum();
        return all == 0 ? 0 : read / all;
    }

    double bytesPerSecond(Instant now) {
        double seconds = elapsed(now).toMillis() / 1000.0;
        return seconds == 0 ? 0 : bytes() / seconds;
    }

    /// How long the rest takes at the average speed so far; empty as long as nothing can be said.
    Optional<Duration> remaining(Instant now) {
        double fraction = fraction();
        if (fraction < 0.01) {
            return Optional.empty();
        }
        return Optional.of(Duration.ofMillis((long) (elapsed(now).toMillis() * (1 - fraction) / fraction)));
    }
}
