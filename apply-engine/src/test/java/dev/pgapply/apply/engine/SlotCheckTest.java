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

final class SlotCheckTest {

    private static final Lsn OLD = Lsn.parse("0/100");
    private static final Lsn NEW = Lsn.parse("0/200");

    private final SlotCheck check = new SlotCheck(new SlotCheck.Source("7", "shop"), "s");

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
