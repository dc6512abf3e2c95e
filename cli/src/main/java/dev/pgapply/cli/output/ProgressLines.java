package dev.pgapply.cli.output;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineEvent.AppliedInOrder;
import dev.pgapply.apply.EngineEvent.Committed;
import dev.pgapply.apply.EngineEvent.Confirmed;
import dev.pgapply.apply.EngineEvent.ConflictSkipped;
import dev.pgapply.apply.EngineEvent.Connected;
import dev.pgapply.apply.EngineEvent.CopyFinished;
import dev.pgapply.apply.EngineEvent.CopyProgress;
import dev.pgapply.apply.EngineEvent.CopyStarted;
import dev.pgapply.apply.EngineEvent.LogicalMessage;
import dev.pgapply.apply.EngineEvent.Retrying;
import dev.pgapply.apply.EngineEvent.RowSwallowed;
import dev.pgapply.apply.EngineEvent.SourcePosition;
import dev.pgapply.apply.EngineEvent.StreamingStarted;
import dev.pgapply.apply.EngineEvent.TableCopied;
import dev.pgapply.apply.EngineEvent.TablePlan;
import dev.pgapply.apply.EngineEvent.Warning;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.cli.text.Quantity;
import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.event.Level;

/// Tells a person what the engine does: a line for each change of state, and every few seconds how fast it goes
/// and how far it is behind; on a terminal that is one redrawn line.
///
/// Events come from several threads, [#tick] from a timer.
public final class ProgressLines implements EngineListener {

    /// Between two lines while something moves.
    static final Duration INTERVAL = Duration.ofSeconds(5);

    /// Between two lines while nothing does.
    static final Duration IDLE_INTERVAL = Duration.ofMinutes(1);

    private static final int BAR_WIDTH = 24;

    private final Console console;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final CopyMeter copy = new CopyMeter();
    private final StreamMeter stream = new StreamMeter();
    private final Map<String, Long> conflicts = new TreeMap<>();
    private final Map<String, Long> inOrder = new TreeMap<>();
    private final Instant begin;
    private boolean streaming;
    private boolean connected;
    private boolean ended;
    private Instant lastLine;
    private long lastTransactions;
    private long lastRows;

    public ProgressLines(Console console, InstantSource clock) {
        this.console = console;
        this.clock = clock;
        this.begin = clock.instant();
        this.lastLine = begin;
    }

    @Override
    public void onEvent(EngineEvent event) {
        Instant now = clock.instant();
        lock.lock();
        try {
            switch (event) {
                case Connected it -> connected(it);
                case CopyStarted it -> copyStarted(it, now);
                case CopyProgress it -> copy.progress(it);
                case TableCopied it -> tableCopied(it);
                case CopyFinished it -> copyFinished(now);
                case StreamingStarted it -> streamingStarted(it, now);
                case Committed it -> stream.committed(it, now);
                case SourcePosition it -> stream.sourceIsAt(it.lsn(), now);
                case Confirmed it -> stream.confirmed(it.flushed());
                case ConflictSkipped it -> skipped(it.table() + " " + it.type(), it.commitLsn());
                case RowSwallowed it -> skipped(it.table() + " row swallowed by a trigger or rule", it.commitLsn());
                case AppliedInOrder it -> appliedInOrder(it);
                // For the listeners of those who embed the engine.
                case LogicalMessage ignored -> {}
                case Warning it -> console.log(Level.WARN, it.message());
                case Retrying it -> retrying(it);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Writes what is due by now; to be called about twice a second.
    public void tick() {
        Instant now = clock.instant();
        lock.lock();
        try {
            if (ended) {
                return;
            }
            if (console.isTerminal()) {
                console.redraw(copy.isRunning() ? copyBar(now) : streaming ? streamText(now) : "");
            }
            boolean idle = !copy.isRunning() && stream.transactions() == lastTransactions && stream.lagBytes() == 0;
            Duration interval = idle ? IDLE_INTERVAL : INTERVAL;
            if (Duration.between(lastLine, now).compareTo(interval) < 0) {
                return;
            }
            if (!console.isTerminal() && (copy.isRunning() || streaming)) {
                console.log(Level.INFO, copy.isRunning() ? copyText(now) : streamText(now));
            }
            startInterval(now);
        } finally {
            lock.unlock();
        }
    }

    /// The table for the end of the run; empty if no server was ever reached. The redrawn line is gone from
    /// then on.
    public String summary() {
        Instant now = clock.instant();
        lock.lock();
        try {
            ended = true;
            console.redraw("");
            return connected ? Summary.of(copy, stream, conflicts, inOrder, Duration.between(begin, now), now) : "";
        } finally {
            lock.unlock();
        }
    }

    private void connected(Connected event) {
        connected = true;
        console.log(
                Level.INFO,
                "connected: source PostgreSQL " + version(event.sourceVersion()) + ", target PostgreSQL "
                        + version(event.targetVersion()));
    }

    private void copyStarted(CopyStarted event, Instant now) {
        copy.start(event, now);
        startInterval(now);
        long rows = event.tables().stream()
                .mapToLong(TablePlan::estimatedRows)
                .filter(n -> n > 0)
                .sum();
        long bytes = event.tables().stream()
                .mapToLong(TablePlan::estimatedBytes)
                .filter(n -> n > 0)
                .sum();
        console.log(
                Level.INFO,
                "copy: " + Quantity.ofCount(event.tables().size(), "table") + ", about " + Quantity.ofCount(rows, "row")
                        + ", " + Quantity.ofBytes(bytes) + ", as of " + event.copyLsn());
    }

    private void tableCopied(TableCopied event) {
        copy.copied(event);
        console.log(
                Level.INFO,
                "copied " + event.table() + ": " + Quantity.ofCount(event.rows(), "row") + ", "
                        + Quantity.ofBytes(event.bytes()) + " in " + Quantity.ofDuration(event.elapsed()));
    }

    private void copyFinished(Instant now) {
        copy.finish(now);
        console.log(
                Level.INFO,
                "copy finished: " + Quantity.ofCount(copy.copiedTables(), "table") + ", "
                        + Quantity.ofCount(copy.copiedRows(), "row") + ", " + Quantity.ofBytes(copy.copiedBytes())
                        + " in " + Quantity.ofDuration(copy.elapsed(now)));
    }

    private void streamingStarted(StreamingStarted event, Instant now) {
        streaming = true;
        stream.start(event.from());
        startInterval(now);
        console.log(Level.INFO, "streaming from " + event.from());
    }

    private void skipped(String what, Lsn commitLsn) {
        if (conflicts.merge(what, 1L, Long::sum) == 1) {
            console.log(
                    Level.WARN,
                    "conflict skipped: " + what + " in the transaction at " + commitLsn
                            + "; further ones of this kind are counted only");
        }
    }

    private void appliedInOrder(AppliedInOrder event) {
        String what = event.table().map(table -> table + " ").orElse("") + "applied in order: " + event.reason();
        if (inOrder.merge(what, 1L, Long::sum) == 1) {
            console.log(
                    Level.INFO,
                    what + " (" + Quantity.ofCount(event.changes(), "change") + ")"
                            + "; further groups of this kind are counted only");
        }
    }

    private void retrying(Retrying event) {
        streaming = false;
        console.log(
                Level.WARN,
                event.reason().code() + ": " + event.reason().getMessage() + "; next attempt in "
                        + Quantity.ofDuration(event.delay()));
    }

    private void startInterval(Instant now) {
        lastLine = now;
        lastTransactions = stream.transactions();
        lastRows = stream.rows();
    }

    private String copyText(Instant now) {
        return "copy: " + copyNumbers(now);
    }

    private String copyBar(Instant now) {
        int filled = (int) (copy.fraction() * BAR_WIDTH);
        return "copy [" + "#".repeat(filled) + ".".repeat(BAR_WIDTH - filled) + "] " + copyNumbers(now);
    }

    private String copyNumbers(Instant now) {
        return (int) (copy.fraction() * 100) + " %, " + copy.copiedTables() + " of "
                + Quantity.ofCount(copy.tables(), "table") + ", " + Quantity.ofCount(copy.rows(), "row") + ", "
                + Quantity.ofBytes(copy.bytes()) + ", " + Quantity.ofBytes((long) copy.bytesPerSecond(now)) + "/s"
                + copy.remaining(now)
                        .map(left -> ", " + Quantity.ofDuration(left) + " left")
                        .orElse("");
    }

    private String streamText(Instant now) {
        long transactions = stream.transactions() - lastTransactions;
        String position = "applied up to " + stream.applied();
        if (transactions == 0 && stream.lagBytes() == 0) {
            return position + ", nothing is waiting";
        }
        double seconds = Math.max(0.001, Duration.between(lastLine, now).toMillis() / 1000.0);
        return position + ": " + Quantity.ofCount(Math.round(transactions / seconds)) + " transactions/s, "
                + Quantity.ofCount(Math.round((stream.rows() - lastRows) / seconds)) + " rows/s, lag "
                + Quantity.ofBytes(stream.lagBytes()) + " / " + Quantity.ofDuration(stream.lag(now));
    }

    private static String version(int number) {
        return number / 10_000 + "." + number % 10_000;
    }
}
