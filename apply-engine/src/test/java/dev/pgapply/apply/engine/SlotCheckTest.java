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

    private final SlotCheck check = new SlotCheck(new SlotCheck.Source("7", "shop"), "s");

    /// A dash stands for what is not there.
    @ParameterizedTest
    @CsvSource({
        // slot, stored, progress, decision
        "-,     -,     0/0,   create",
        "0/100, -,     0/0,   adopt",
        // A start that was killed between storing the slot and storing the progress.
        "0/100, 0/100, 0/0,   adopt",
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
        "0/101, -,     0/100, lost",
        "-,     0/100, 0/100, lost",
        "-,     -,     0/100, lost",
        // The target was restored without its replication origin, or that was dropped.
        "0/101, 0/100, 0/0,   lost",
        "-,     0/100, 0/0,   lost",
    })
    void theSlotMustStandWhereTheTargetKnowsItToStand(String slot, String stored, String progress, String decision) {
        assertEquals(decision, decide(slot, stored, progress));
    }

    private String decide(String slot, String stored, String progress) {
        try {
            return switch (check.decide(
                    lsn(slot).map(at -> slot(at, "reserved", "shop")),
                    lsn(stored).map(at -> new SubscriptionRecord("7", "shop", "s", "pgoutput", at)),
                    Lsn.parse(progress))) {
                case SlotCheck.Decision.Create ignored -> "create";
                case SlotCheck.Decision.Adopt adopt -> {
                    assertEquals(Lsn.parse(slot), adopt.start());
                    yield "adopt";
                }
                case SlotCheck.Decision.Resume resume -> {
                    assertEquals(Lsn.parse(progress), resume.progress());
                    yield "resume";
                }
            };
        } catch (SetupException e) {
            assertEquals(ErrorCode.SLOT_LOST, e.code());
            return "lost";
        }
    }

    @Test
    void aGapIsNamedByBothItsEnds() {
        SetupException lost = assertThrows(
                SetupException.class,
                () -> check.decide(
                        Optional.of(slot(Lsn.parse("0/300"), "reserved", "shop")),
                        Optional.empty(),
                        Lsn.parse("0/100")));
        String message = String.valueOf(lost.getMessage());
        assertTrue(message.contains("0/300") && message.contains("0/100"), message);
    }

    @ParameterizedTest
    @CsvSource({
        "lost,     shop,  SLOT_LOST",
        "reserved, other, SETUP",
    })
    void aSlotThatCannotBeUsedIsRefused(String walStatus, String database, ErrorCode code) {
        SetupException refused = assertThrows(
                SetupException.class,
                () -> check.decide(
                        Optional.of(slot(Lsn.parse("0/100"), walStatus, database)),
                        Optional.empty(),
                        Lsn.parse("0/100")));
        assertEquals(code, refused.code());
    }

    @ParameterizedTest
    @CsvSource({
        "8, shop,  s,     SLOT_LOST",
        "7, other, s,     SLOT_LOST",
        "7, shop,  other, SETUP",
    })
    void progressOfAnotherSourceMeansNothing(String system, String database, String slotName, ErrorCode code) {
        SetupException refused = assertThrows(
                SetupException.class,
                () -> check.decide(
                        Optional.of(slot(Lsn.parse("0/100"), "reserved", "shop")),
                        Optional.of(new SubscriptionRecord(system, database, slotName, "pgoutput", Lsn.parse("0/100"))),
                        Lsn.parse("0/100")));
        assertEquals(code, refused.code());
    }

    private static Optional<Lsn> lsn(String text) {
        return text.equals("-") ? Optional.empty() : Optional.of(Lsn.parse(text));
    }

    private static SlotFacts slot(Lsn confirmed, String walStatus, String database) {
        return new SlotFacts(
                "s",
                Optional.of("pgoutput"),
                Optional.of(database),
                false,
                OptionalInt.empty(),
                Optional.empty(),
                Optional.of(confirmed),
                Optional.of(confirmed),
                Optional.of(walStatus),
                Optional.empty(),
                false,
                false);
    }
}
