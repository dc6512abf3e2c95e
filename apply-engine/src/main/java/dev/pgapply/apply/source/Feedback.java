package dev.pgapply.apply.source;

import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Decides when a status update goes out and what it says. Pure: time and positions come in, a status comes
/// out.
///
/// `flushed` is only what the target holds durably; the server throws away what lies before it. Nothing ever
/// goes back (PostgreSQL's `worker.c`, `send_feedback`). An update goes out at once when the server asks, soon
/// after a position moved, and every second at the latest, so that a blocked target never looks like a dead
/// receiver.
final class Feedback {

    /// The three positions of a status update.
    ///
    /// @param ask ask the server for an answer, to see that it is alive
    record Status(Lsn written, Lsn flushed, Lsn applied, boolean ask) {}

    private static final long AFTER_A_MOVE_NANOS = Duration.ofMillis(10).toNanos();
    private static final long AT_LEAST_EVERY_NANOS = Duration.ofSeconds(1).toNanos();

    private final long askAfterSilenceNanos;

    private Lsn written = Lsn.INVALID;
    private Lsn flushed = Lsn.INVALID;
    private Lsn applied = Lsn.INVALID;
    private long sentAtNanos;
    private boolean moved;

    /// @param silence how long the server may be silent before it is asked for an answer
    Feedback(Duration silence, long nowNanos) {
        this.askAfterSilenceNanos = silence.toNanos();
        this.sentAtNanos = nowNanos - AT_LEAST_EVERY_NANOS;
    }

    /// The update that is due now, or null.
    ///
    /// @param heardAtNanos when the server was last heard
    @Nullable
    Status due(long nowNanos, long heardAtNanos, Lsn received, Lsn durable, Lsn committed, boolean replyRequested) {
        advance(received, durable, committed);
        long sinceSent = nowNanos - sentAtNanos;
        boolean due = replyRequested || (moved && sinceSent >= AFTER_A_MOVE_NANOS) || sinceSent >= AT_LEAST_EVERY_NANOS;
        if (!due) {
            return null;
        }
        sentAtNanos = nowNanos;
        moved = false;
        return new Status(written, flushed, applied, nowNanos - heardAtNanos >= askAfterSilenceNanos);
    }

    private void advance(Lsn received, Lsn durable, Lsn committed) {
        if (durable.isAfter(flushed)) {
            flushed = durable;
            moved = true;
        }
        if (committed.max(flushed).isAfter(applied)) {
            applied = committed.max(flushed);
            moved = true;
        }
        written = written.max(received).max(applied);
    }
}
