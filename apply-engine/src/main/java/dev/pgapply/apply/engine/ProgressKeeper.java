package dev.pgapply.apply.engine;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.decoder.Lsn;
import java.time.Duration;

/// Finds out what may be confirmed to the source, on a beat of its own: what the target's disk has, and, where
/// nothing is pending, positions that had nothing for the target. Those are stored durably before they are
/// confirmed, so that a slot that is found ahead of what is stored was moved by somebody else.
final class ProgressKeeper {

    private static final Duration BEAT = Duration.ofMillis(100);
    private static final Duration BETWEEN_STORES = Duration.ofSeconds(2);

    private final Durability durability;
    private final Positions positions;
    private final EngineListener listener;
    private final Duration askAtLeastEvery;

    private Lsn durable;
    private long storedAtNanos = System.nanoTime() - BETWEEN_STORES.toNanos();
    private long askedAtNanos = System.nanoTime();

    /// @param askAtLeastEvery how often the target is asked for an answer although nothing is pending, to see
    ///     that it is alive
    ProgressKeeper(Durability durability, Positions positions, EngineListener listener, Duration askAtLeastEvery) {
        this.durability = durability;
        this.positions = positions;
        this.listener = listener;
        this.askAtLeastEvery = askAtLeastEvery;
        this.durable = positions.confirmed();
    }

    /// Looks again and again until it is interrupted.
    ///
    /// @param beat called with each look
    void run(Runnable beat) throws InterruptedException {
        while (true) {
            step(System.nanoTime() - storedAtNanos >= BETWEEN_STORES.toNanos());
            beat.run();
            Thread.sleep(BEAT);
        }
    }

    /// One look.
    ///
    /// @param mayStore whether a position without rows may be stored now
    void step(boolean mayStore) {
        // In this order: a commit between the two reads must not be passed over.
        Lsn committed = positions.committed();
        Lsn withRows = positions.committedWithRows();
        if (withRows.isAfter(durable) || System.nanoTime() - askedAtNanos >= askAtLeastEvery.toNanos()) {
            durable = durable.max(durability.durable(withRows));
            askedAtNanos = System.nanoTime();
            confirm(durable);
        }
        if (mayStore && !withRows.isAfter(durable) && committed.isAfter(positions.confirmed())) {
            durability.confirm(committed);
            storedAtNanos = System.nanoTime();
            confirm(committed);
        }
    }

    private void confirm(Lsn lsn) {
        if (lsn.isAfter(positions.confirmed())) {
            positions.confirmed(lsn);
            listener.onEvent(new EngineEvent.Confirmed(lsn));
        }
    }
}
