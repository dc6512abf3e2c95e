package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.apply.source.Receiver;
import dev.pgapply.apply.source.SpoolErrors;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.EarlyDelivery;
import dev.pgapply.decoder.transaction.SpoolException;
import dev.pgapply.decoder.transaction.SpoolSettings;
import dev.pgapply.decoder.transaction.TransactionAssembler;
import dev.pgapply.schema.postgres.SlotFacts;
import java.util.Optional;

/// What the source is asked to send before the commit, and where that waits.
///
/// @param mode when large transactions come
/// @param start where the stream begins: at the slot, if a prepared transaction that waits for its decision may
///     lie before the progress; what is applied already is left out then
/// @param assembly makes what puts the messages together
record LargeTransactions(Mode mode, Lsn start, Receiver.Assembly assembly) {

    private static final int STREAMING_SINCE = 14;
    private static final int PARALLEL_SINCE = 16;
    private static final int TWO_PHASE_SINCE = 15;
    private static final Lsn NEVER_BY_PREPARE = new Lsn(-1);

    /// @param slot as it is before the stream begins
    static LargeTransactions plan(Job job, int sourceMajor, Optional<SlotFacts> slot, TableGate gate, Lsn progress) {
        Subscription subscription = job.subscription();
        Subscription.Streaming settings = subscription.streaming();
        Mode mode = mode(settings.mode(), sourceMajor);
        if (job.sourceKeepsOpenTransactions()) {
            mode = Mode.OFF;
        }
        // A slot that once had it has it for ever.
        boolean sendsPrepared =
                subscription.twoPhase() || slot.filter(SlotFacts::twoPhase).isPresent();
        if (mode == Mode.OFF && !sendsPrepared) {
            return new LargeTransactions(mode, progress, (fullDisk, received) -> new TransactionAssembler());
        }
        Lsn start = sendsPrepared
                ? slot.flatMap(SlotFacts::confirmedFlushLsn).orElse(progress).min(progress)
                : progress;
        SpoolSettings spool =
                new SpoolSettings(settings.spoolDirectory(), settings.spoolMemoryBytes(), settings.spoolLimitBytes());
        Lsn settledFrom = gate.settledFrom();
        Lsn holdPreparedBefore = subscription.twoPhase() ? settledFrom : NEVER_BY_PREPARE;
        int early = mode == Mode.PARALLEL ? settings.parallelStreams() : 0;
        return new LargeTransactions(mode, start, (fullDisk, received) -> {
            // A transaction that is open now commits after everything that has come.
            EarlyDelivery delivery =
                    new EarlyDelivery(early, () -> !received.get().isBefore(settledFrom));
            try {
                return new TransactionAssembler(spool, holdPreparedBefore, delivery, fullDisk);
            } catch (SpoolException e) {
                throw SpoolErrors.translate(e);
            }
        });
    }

    private static Mode mode(Optional<Mode> wanted, int sourceMajor) {
        if (wanted.isEmpty()) {
            return sourceMajor >= PARALLEL_SINCE ? Mode.PARALLEL : sourceMajor >= STREAMING_SINCE ? Mode.ON : Mode.OFF;
        }
        require(wanted.get(), sourceMajor);
        return wanted.get();
    }

    private static void require(Mode mode, int sourceMajor) {
        int since = switch (mode) {
            case OFF -> 0;
            case ON -> STREAMING_SINCE;
            case PARALLEL -> PARALLEL_SINCE;
        };
        if (sourceMajor < since) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the source, PostgreSQL " + sourceMajor + ", does not send open transactions that way",
                    "Leave --streaming out; a source can do what was asked for from version " + since + " on.");
        }
    }

    /// @throws SetupException if one of the sides cannot
    static void requireTwoPhase(int sourceMajor, int maxPreparedTransactions) {
        if (sourceMajor < TWO_PHASE_SINCE) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the source, PostgreSQL " + sourceMajor + ", sends prepared transactions at their commit only",
                    "Leave --two-phase out; a source has it from version " + TWO_PHASE_SINCE + " on.");
        }
        if (maxPreparedTransactions == 0) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the target cannot prepare transactions: its max_prepared_transactions is 0",
                    "On the target: ALTER SYSTEM SET max_prepared_transactions = 100; and restart it."
                            + " Or leave --two-phase out.");
        }
    }
}
