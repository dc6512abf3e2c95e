package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SlotCheckTest {

    private static final Lsn OLD = Lsn.parse("0/100");
    private static final Lsn NEW = Lsn.parse("0/200");

    private final SlotCheck check = new SlotCheck(new SlotCheck.Source("7", "shop", NEW), "s");

    @Test
    void withoutSlotAndProgressTheSlotIsMade() {
        assertEquals(new SlotCheck.Decision.Create(), check.decide(Optional.empty(), Optional.empty(), Lsn.INVALID));
    }

    @Test
    void aSlotThatNothingWasAppliedThroughIsAdoptedWhereItStands() {
        assertEquals(
                new SlotCheck.Decision.Adopt(NEW), check.decide(Optional.of(slot(NEW)), Optional.empty(), Lsn.INVALID));
    }

    @Test
    void aSlotThatIsNotAheadGoesOn() {
        assertEquals(
                new SlotCheck.Decision.Resume(NEW),
                check.decide(Optional.of(slot(OLD)), Optional.of(stored("7", "s", OLD)), NEW));
    }

    @Test
    void aSlotMayBeAheadAsFarAsWasConfirmed() {
        assertEquals(
                new SlotCheck.Decision.Resume(OLD),
                check.decide(Optional.of(slot(NEW)), Optional.of(stored("7", "s", NEW)), OLD));
    }

    @Test
    void aSlotAheadOfEverythingStoredIsAGap() {
        SetupException gap = assertThrows(
                SetupException.class,
                () -> check.decide(Optional.of(slot(NEW)), Optional.of(stored("7", "s", OLD)), OLD));

        assertEquals(ErrorCode.SLOT_LOST, gap.code());
        assertTrue(gap.toString().contains("0/100") && gap.toString().contains("0/200"), gap.toString());
    }

    @Test
    void aSourceWhoseLogEndsBeforeWhatItHasSentIsAGap() {
        Lsn ahead = Lsn.parse("0/201");
        SetupException gap = refused(Optional.of(slot(OLD)), Optional.of(stored("7", "s", OLD)), ahead);

        assertEquals(ErrorCode.SLOT_LOST, gap.code());
        assertTrue(gap.toString().contains("0/201") && gap.toString().contains("0/200"), gap.toString());
    }

    @Test
    void aMissingSlotIsAGapOnceSomethingWasApplied() {
        assertEquals(
                ErrorCode.SLOT_LOST,
                refused(Optional.empty(), Optional.of(stored("7", "s", OLD)), OLD)
                        .code());
    }

    @Test
    void anInvalidatedSlotIsLost() {
        assertEquals(
                ErrorCode.SLOT_LOST,
                refused(Optional.of(slot("pgoutput", "shop", "lost")), Optional.empty(), Lsn.INVALID)
                        .code());
    }

    @Test
    void aSlotOfAnotherPluginOrDatabaseIsNotTouched() {
        assertEquals(
                ErrorCode.SETUP,
                refused(Optional.of(slot("test_decoding", "shop", "reserved")), Optional.empty(), Lsn.INVALID)
                        .code());
        assertEquals(
                ErrorCode.SETUP,
                refused(Optional.of(slot("pgoutput", "other", "reserved")), Optional.empty(), Lsn.INVALID)
                        .code());
    }

    @Test
    void progressBelongsToOneSourceAndOneSlot() {
        assertEquals(
                ErrorCode.SLOT_LOST,
                refused(Optional.of(slot(OLD)), Optional.of(stored("8", "s", OLD)), OLD)
                        .code());
        assertEquals(
                ErrorCode.SETUP,
                refused(Optional.of(slot(OLD)), Optional.of(stored("7", "other", OLD)), OLD)
                        .code());
    }

    @Test
    void progressOfAnotherDatabaseOfTheTargetClusterIsNotTakenForOurs() {
        assertEquals(
                ErrorCode.SETUP,
                refused(Optional.of(slot(OLD)), Optional.empty(), OLD).code());
    }

    /// A dash stands for what is not there.
    @ParameterizedTest
    @CsvSource({
        // slot, stored, progress, decision
        "-,     -,     0/0,   create",
        "0/100, -,     0/0,   adopt",
        // A start that was killed between storing the slot and storing the progress.
        "0/100, 0/100, 0/0,   adopt",
        // The target was restored without its replication origin, or that was dropped.
        "0/101, 0/100, 0/0,   lost",
        "-,     0/100, 0/0,   lost",
        "0/100, 0/100, 0/100, resume",
        "0/100, 0/50,  0/100, resume",
        // Confirmed beyond the last row, and stored before that.
        "0/200, 0/200, 0/100, resume",
        // Killed after storing, before confirming.
        "0/100, 0/200, 0/100, resume",
        // Killed between a commit and its confirmation.
        "0/100, 0/100, 0/200, resume",
        "0/201, 0/200, 0/100, lost",
        "0/101, 0/50,  0/100, lost",
        "-,     0/100, 0/100, lost",
    })
    void theSlotMustStandWhereTheTargetKnowsItToStand(String slot, String stored, String progress, String decision) {
        assertEquals(decision, decide(slot, stored, progress));
    }

    private String decide(String slot, String stored, String progress) {
        try {
            return switch (check.decide(
                    lsn(slot).map(SlotCheckTest::slot),
                    lsn(stored).map(at -> stored("7", "s", at)),
                    Lsn.parse(progress))) {
                case SlotCheck.Decision.Create ignored -> "create";
                case SlotCheck.Decision.Adopt ignored -> "adopt";
                case SlotCheck.Decision.Resume ignored -> "resume";
            };
        } catch (SetupException e) {
            assertEquals(ErrorCode.SLOT_LOST, e.code());
            return "lost";
        }
    }

    private static Optional<Lsn> lsn(String text) {
        return text.equals("-") ? Optional.empty() : Optional.of(Lsn.parse(text));
    }

    private SetupException refused(Optional<SlotFacts> slot, Optional<SubscriptionRecord> stored, Lsn progress) {
        return assertThrows(SetupException.class, () -> check.decide(slot, stored, progress));
    }

    private static SubscriptionRecord stored(String systemId, String slot, Lsn confirmed) {
        return new SubscriptionRecord(systemId, "shop", slot, "pgoutput", confirmed);
    }

    private static SlotFacts slot(Lsn confirmed) {
        return slot("pgoutput", "shop", "reserved", confirmed);
    }

    private static SlotFacts slot(String plugin, String database, String walStatus) {
        return slot(plugin, database, walStatus, OLD);
    }

    private static SlotFacts slot(String plugin, String database, String walStatus, Lsn confirmed) {
        return new SlotFacts(
                "s",
                Optional.of(plugin),
                Optional.of(database),
                false,
                OptionalInt.empty(),
                Optional.empty(),
                Optional.of(OLD),
                Optional.of(confirmed),
                Optional.of(walStatus),
                Optional.empty(),
                false,
                false);
    }
}
