package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class ConfidenceTest {

    private final Confidence confidence = new Confidence();

    @Test
    void oneFailureChangesNothing() {
        confidence.failed();

        assertTrue(confidence.holds());
    }

    @Test
    void eachFurtherFailureDoublesThePauseUpToALimit() {
        confidence.failed();
        for (int pause : new int[] {4, 8, 16, 32, 64, 128, 256, 256}) {
            confidence.failed();
            assertEquals(pause, groupsUntilTrusted());
        }
    }

    @Test
    void aFailureIsForgottenAfterAWhile() {
        confidence.failed();
        confidence.failed();
        groupsUntilTrusted();
        for (int i = 0; i < 32; i++) {
            confidence.groupWritten();
        }
        confidence.failed();

        assertTrue(confidence.holds());
    }

    private int groupsUntilTrusted() {
        int groups = 0;
        while (!confidence.holds()) {
            confidence.groupWritten();
            groups++;
        }
        return groups;
    }
}
