package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.apply.ApplyException.ProtocolViolation;
import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.ErrorCode;
import io.github.resilience4j.core.IntervalFunction;
import java.time.Duration;
import java.util.Optional;

/// Which failures are tried again, and after how long: exponential with jitter, from a fifth of a second to
/// fifteen seconds. An attempt that has got as far as applying something starts the series anew.
final class Backoff {

    /// A login that is refused again and again locks accounts and fills logs.
    private static final int MAX_REFUSALS = 5;

    private final IntervalFunction intervals =
            IntervalFunction.ofExponentialRandomBackoff(Duration.ofMillis(200), 2.0, 0.5, Duration.ofSeconds(15));
    private final Optional<Duration> retryFor;

    private boolean connectedOnce;
    private boolean streamedOnce;
    private int failures;
    private int refusals;
    private long firstFailureNanos;

    /// @param retryFor give up after so long without success; empty never gives up
    Backoff(Optional<Duration> retryFor) {
        this.retryFor = retryFor;
    }

    /// Both sides have answered: from now on lost connections are tried again.
    void connected() {
        connectedOnce = true;
        refusals = 0;
    }

    /// The slot was read.
    void streamed() {
        streamedOnce = true;
    }

    /// Something was applied.
    void succeeded() {
        failures = 0;
    }

    /// How long to wait before the next attempt; empty if there must not be one.
    Optional<Duration> after(ApplyException failure, long nowNanos) {
        boolean retried = switch (failure) {
            case SourceLost lost -> connectedOnce && !isTaken(lost.code()) && !isRefusedTooOften(lost.code());
            case TargetLost lost -> connectedOnce && !isRefusedTooOften(lost.code());
            case SetupException ignored -> false;
            case SchemaMismatch ignored -> false;
            case ConflictStop ignored -> false;
            case ChangeRejected ignored -> false;
            case ProtocolViolation ignored -> false;
        };
        if (failures == 0) {
            firstFailureNanos = nowNanos;
        }
        if (!retried || isOverdue(nowNanos)) {
            return Optional.empty();
        }
        failures = Math.min(failures + 1, 1_000);
        return Optional.of(Duration.ofMillis(intervals.apply(failures)));
    }

    /// A slot that somebody else reads from the beginning is not ours to wait for; later it may be our own last
    /// stream.
    private boolean isTaken(ErrorCode code) {
        return code == ErrorCode.SLOT_ACTIVE && !streamedOnce;
    }

    private boolean isRefusedTooOften(ErrorCode code) {
        if (code == ErrorCode.SOURCE_REFUSED || code == ErrorCode.TARGET_REFUSED) {
            refusals++;
        }
        return refusals > MAX_REFUSALS;
    }

    private boolean isOverdue(long nowNanos) {
        return retryFor.isPresent()
                && nowNanos - firstFailureNanos > retryFor.get().toNanos();
    }
}
