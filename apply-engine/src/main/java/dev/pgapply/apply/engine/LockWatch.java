package dev.pgapply.apply.engine;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import java.util.Optional;

/// Tells who holds the target up when there is something to apply and nothing has been applied for a while: a
/// prepared transaction in the way is seen by no deadlock detector and ends by itself never. Used by one thread.
final class LockWatch {

    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final Durability target;
    private final Positions positions;
    private final EngineListener listener;

    private Lsn lastCommitted = Lsn.INVALID;
    private long stoodSinceNanos = System.nanoTime();
    private Optional<String> told = Optional.empty();

    LockWatch(Durability target, Positions positions, EngineListener listener) {
        this.target = target;
        this.positions = positions;
        this.listener = listener;
    }

    /// @param waiting where the source is, as far as it was heard
    void look(Lsn waiting) {
        Lsn committed = positions.committed();
        long now = System.nanoTime();
        if (committed.isAfter(lastCommitted) || !waiting.isAfter(committed)) {
            lastCommitted = committed;
            stoodSinceNanos = now;
            told = Optional.empty();
        } else if (now - stoodSinceNanos > PATIENCE.toNanos()) {
            stoodSinceNanos = now;
            Optional<String> blocker = target.blocker();
            if (blocker.isPresent() && !blocker.equals(told)) {
                told = blocker;
                listener.onEvent(new EngineEvent.Warning(
                        "the target waits for a lock that is held by " + blocker.get() + ", applied up to " + committed));
            }
        }
    }
}
