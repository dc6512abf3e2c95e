package dev.pgapply.apply.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class FeedbackTest {

    private static final long MILLI = 1_000_000;
    private static final Lsn A = Lsn.parse("0/10");
    private static final Lsn B = Lsn.parse("0/20");
    private static final Lsn C = Lsn.parse("0/30");

    private final Feedback feedback = new Feedback(Duration.ofSeconds(20), 0);

    @Test
    void theFirstStatusGoesOutAtOnce() {
        Feedback.Status status = feedback.due(0, 0, C, A, B, false);

        assertEquals(new Feedback.Status(C, A, B, false), status);
    }

    @Test
    void nothingIsRepeatedBeforeASecondHasPassed() {
        assertNotNull(feedback.due(0, 0, C, A, B, false));

        assertNull(feedback.due(999 * MILLI, 0, C, A, B, false));
        assertNotNull(feedback.due(1_000 * MILLI, 0, C, A, B, false));
    }

    @Test
    void aRequestIsAnsweredAtOnce() {
        assertNotNull(feedback.due(0, 0, C, A, B, false));

        assertNotNull(feedback.due(1, 0, C, A, B, true));
    }

    @Test
    void aDurablePositionThatMovedGoesOutSoon() {
        assertNotNull(feedback.due(0, 0, C, A, B, false));

        assertNull(feedback.due(9 * MILLI, 0, C, B, B, false));
        Feedback.Status status = feedback.due(10 * MILLI, 0, C, B, B, false);
        assertEquals(new Feedback.Status(C, B, B, false), status);
    }

    @Test
    void positionsNeverGoBack() {
        assertNotNull(feedback.due(0, 0, C, B, C, false));

        Feedback.Status status = feedback.due(2_000 * MILLI, 0, A, A, A, false);

        assertEquals(new Feedback.Status(C, B, C, false), status);
    }

    @Test
    void appliedIsNeverBehindFlushed() {
        Feedback.Status status = feedback.due(0, 0, A, C, B, false);

        assertEquals(new Feedback.Status(C, C, C, false), status);
    }

    @Test
    void positionsCompareUnsigned() {
        Lsn high = Lsn.parse("FFFFFFFF/0");
        assertNotNull(feedback.due(0, 0, A, A, A, false));

        Feedback.Status status = feedback.due(2_000 * MILLI, 0, high, high, high, false);

        assertEquals(new Feedback.Status(high, high, high, false), status);
    }

    @Test
    void aSilentServerIsAskedForAnAnswer() {
        Feedback.Status soon = feedback.due(19_000 * MILLI, 0, A, A, A, false);
        Feedback.Status later = feedback.due(21_000 * MILLI, 0, A, A, A, false);

        assertNotNull(soon);
        assertNotNull(later);
        assertFalse(soon.ask());
        assertTrue(later.ask());
    }
}
