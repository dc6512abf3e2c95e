package dev.pgapply.cli.output;

import dev.pgapply.apply.EngineEvent.Committed;
import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import java.time.Instant;

/// Adds up what is applied, and how far that is behind the source. Not thread-safe, reads no clock.
///
/// Positions only grow here: events of different threads may arrive in another order than they happened.
final class StreamMeter {

    private long transactions;
    private long rows;
    private Lsn applied = Lsn.INVALID;
    private Lsn confirmed = Lsn.INVALID;
    private Lsn source = Lsn.INVALID;
    private Instant waitingSince = Instant.EPOCH;
    private long highestLagBytes;
    private Duration highestLag = Duration.ZERO;

    void start(Lsn from) {
        applied = applied.max(from);
        source = source.max(from);
    }

    void committed(Committed event, Instant now) {
        transactions += event.transactions();
        rows += event.rows();
        noteHighest(now);
        applied = applied.max(event.endLsn());
        source = source.max(event.endLsn());
        // What is still to come was committed later than this at the source.
        waitingSince = later(waitingSince, event.commitTime());
        Duration delay = Duration.between(event.commitTime(), now);
        highestLag = delay.compareTo(highestLag) > 0 ? delay : highestLag;
    }

    void sourceIsAt(Lsn lsn, Instant now) {
        if (lagBytes() == 0) {
            waitingSince = later(waitingSince, now);
        }
        source = source.max(lsn);
        noteHighest(now);
    }

    void confirmed(Lsn flushed) {
        confirmed = confirmed.max(flushed);
        applied = applied.max(flushed);
        source = source.max(flushed);
    }

    long transactions() {
        return transactions;
    }

    long rows() {
        return rows;
    }

    Lsn applied() {
        return applied;
    }

    Lsn confirmed() {
        return confirmed;
    }

    long lagBytes() {
        return applied.isValid() ? source.bytesSince(applied) : 0;
    }

    /// How long the oldest change that is not applied has been waiting, at most; zero when there is none.
    Duration lag(Instant now) {
        if (lagBytes() == 0 || !now.isAfter(waitingSince)) {
            return Duration.ZERO;
        }
        return Duration.between(waitingSince, now);
    }

    long highestLagBytes() {
        return highestLagBytes;
    }

    Duration highestLag() {
        return highestLag;
    }

    private void noteHighest(Instant now) {
        highestLagBytes = Math.max(highestLagBytes, lagBytes());
        Duration lag = lag(now);
        if (lag.compareTo(highestLag) > 0) {
            highestLag = lag;
        }
    }

    private static Instant later(Instant left, Instant right) {
        return left.isAfter(right) ? left : right;
    }
}
