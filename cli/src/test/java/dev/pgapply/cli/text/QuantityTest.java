package dev.pgapply.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @ParameterizedTest
    @CsvSource({"64MB,67108864", "1kB,1024", "1.5GB,1610612736", "2 TB,2199023255552", "17B,17", "17,17", "0,0"})
    void sizesAreReadAsInPostgresqlConf(String text, long bytes) {
        assertEquals(bytes, Quantity.parseBytes(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "MB", "64 mb", "64KB", "-1MB", "1e3", "64MBs", "9999999999999TB", "1,5MB"})
    void otherSizesAreRejected(String text) {
        assertThrows(IllegalArgumentException.class, () -> Quantity.parseBytes(text));
    }

    @ParameterizedTest
    @CsvSource({
        "30s,PT30S",
        "10min,PT10M",
        "2h,PT2H",
        "1d,PT24H",
        "250ms,PT0.25S",
        "500us,PT0.0005S",
        "1.5s,PT1.5S",
        "0,PT0S"
    })
    void durationsAreReadAsInPostgresqlConf(String text, Duration duration) {
        assertEquals(duration, Quantity.parseDuration(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "30", "s", "30sec", "10m", "-1s", "1H", "99999999999999d"})
    void otherDurationsAreRejected(String text) {
        assertThrows(IllegalArgumentException.class, () -> Quantity.parseDuration(text));
    }

    @ParameterizedTest
    @CsvSource({
        "0,0 B",
        "1023,'1,023 B'",
        "1024,1.0 kB",
        "1500000,1.4 MB",
        "241172480,230 MB",
        "1288490189,1.2 GB",
        "5629499534213120,'5,120 TB'"
    })
    void sizesAreWrittenWithAUnit(long bytes, String text) {
        assertEquals(text, Quantity.ofBytes(bytes));
    }

    @ParameterizedTest
    @CsvSource({
        "PT-3S,0 s",
        "PT0S,0 s",
        "PT0.085S,85 ms",
        "PT3.29S,3.2 s",
        "PT59.99S,59.9 s",
        "PT4M5S,4 min 05 s",
        "PT2H7M,2 h 07 min"
    })
    void durationsAreWrittenInTwoUnits(Duration duration, String text) {
        assertEquals(text, Quantity.ofDuration(duration));
    }

    @ParameterizedTest
    @CsvSource({"0,0 tables", "1,1 table", "1234567,'1,234,567 tables'"})
    void countsHaveSeparatorsAndTheirNounAPlural(long count, String text) {
        assertEquals(text, Quantity.ofCount(count, "table"));
    }
}
