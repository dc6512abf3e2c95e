package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.apply.source.SpoolErrors;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.FullDisk;
import dev.pgapply.decoder.transaction.SpoolException;
import dev.pgapply.decoder.transaction.SpoolSettings;
import dev.pgapply.decoder.transaction.TransactionAssembler;
import dev.pgapply.schema.postgres.SlotFacts;
import java.util.Optional;
import java.util.function.Function;

/// What the source is asked to send before the commit, and where that waits.
///
/// @param streamed large transactions come while they are open
/// @param startsAtSlot the stream begins where the slot stands, and what is applied already is left out: a
///     prepared transaction that waits here for its decision lies before the progress
/// @param assembly makes what puts the messages together
record LargeTransactions(boolean streamed, boolean startsAtSlot, Function<FullDisk, TransactionAssembler> assembly) {

    private static final int STREAMING_SINCE = 14;
    private static final int TWO_PHASE_SINCE = 15;
    private static final Lsn NEVER_BY_PREPARE = new Lsn(-1);

    /// @param slot as it is before the stream begins
    static LargeTransactions plan(Job job, int sourceMajor, Optional<SlotFacts> slot, TableGate gate) {
        Subscription subscription = job.subscription();
        Subscription.Streaming settings = subscription.streaming();
        boolean streamed = !job.sourceKeepsOpenTransactions()
                && settings.mode().orElse(Mode.ON) != Mode.OFF
                && sourceMajor >= STREAMING_SINCE;
        require(settings.mode().orElse(Mode.OFF), sourceMajor);
        // A slot that once had it has it for ever.
        boolean sendsPrepared =
                subscription.twoPhase() || slot.filter(SlotFacts::twoPhase).isPresent();
        if (!streamed && !sendsPrepared) {
            return new LargeTransactions(false, false, fullDisk -> new TransactionAssembler());
        }
        SpoolSettings spool =
                new SpoolSettings(settings.spoolDirectory(), settings.spoolMemoryBytes(), settings.spoolLimitBytes());
        Lsn holdPreparedBefore = subscription.twoPhase() ? gate.settledFrom() : NEVER_BY_PREPARE;
        return new LargeTransactions(streamed, sendsPrepared, fullDisk -> open(spool, holdPreparedBefore, fullDisk));
    }

    private static TransactionAssembler open(SpoolSettings spool, Lsn holdPreparedBefore, FullDisk fullDisk) {
        try {
            return new TransactionAssembler(spool, holdPreparedBefore, fullDisk);
        } catch (SpoolException e) {
            throw SpoolErrors.translate(e);
        }
    }

    private static void require(Mode mode, int sourceMajor) {
        if (mode != Mode.OFF && sourceMajor < STREAMING_SINCE) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the source, PostgreSQL " + sourceMajor + ", sends transactions after their commit only",
                    "Leave --streaming out, or set it to off; a source has it from version " + STREAMING_SINCE
                            + " on.");
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
