package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LsnTest {

    private static final Lsn HIGHEST = new Lsn(-1);

    @ParameterizedTest
    @CsvSource({
        "0/0, 0/0",
        "16/B374D848, 16/B374D848",
        "16/b374d848, 16/B374D848",
        "0/0000ABCD, 0/ABCD",
        "FFFFFFFF/FFFFFFFF, FFFFFFFF/FFFFFFFF",
        "00000001/00000000, 1/0"
    })
    void printsAsPostgresDoesWhateverWasRead(String read, String printed) {
        assertEquals(printed, Lsn.parse(read).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "0",
                "0/",
                "/0",
                "0/0/0",
                "g/0",
                "0/-1",
                "+1/0",
                "123456789/0",
                "0/123456789",
                " 0/0",
                "0/0 "
            })
    void anythingElseIsNotAPosition(String text) {
        assertThrows(IllegalArgumentException.class, () -> Lsn.parse(text));
    }

    @Test
    void orderIsUnsigned() {
        Lsn low = Lsn.parse("7FFFFFFF/FFFFFFFF");
        Lsn high = Lsn.parse("80000000/0");
        assertTrue(high.isAfter(low));
        assertTrue(low.isBefore(high));
        assertTrue(low.compareTo(high) < 0);
        assertEquals(high, low.max(high));
        assertEquals(low, low.min(high));
        assertTrue(HIGHEST.isAfter(Lsn.INVALID));
        assertFalse(low.isAfter(low) || low.isBefore(low));
    }

    @Test
    void distanceIsInBytes() {
        assertEquals(0x1_0000_0001L, Lsn.parse("1/1").bytesSince(Lsn.INVALID));
        assertEquals(-1, Lsn.parse("0/1").bytesSince(Lsn.parse("0/2")));
    }

    @Test
    void onlyZeroIsInvalid() {
        assertFalse(Lsn.INVALID.isValid());
        assertTrue(HIGHEST.isValid());
    }
}
