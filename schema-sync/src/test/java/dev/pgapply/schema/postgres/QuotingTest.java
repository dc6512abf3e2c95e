package dev.pgapply.schema.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pgapply.decoder.TableName;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class QuotingTest {

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "id,             \"id\"",
                "Order,          \"Order\"",
                "a b,            \"a b\"",
                "say \"hi\",     \"say \"\"hi\"\"\"",
                "back\\slash,    \"back\\slash\"",
                "o'clock,        \"o'clock\"",
                "таблица,        \"таблица\"",
                "``,             \"\"",
            })
    void identifierIsAlwaysQuotedAndDoublesQuotes(String name, String expected) {
        assertEquals(expected, Quoting.identifier(name));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "plain,          'plain'",
                "it's,           'it''s'",
                "back\\slash,    E'back\\\\slash'",
                "\\',            E'\\\\'''",
                "``,             ''",
            })
    void literalMeansTheSameInBothStringModes(String value, String expected) {
        assertEquals(expected, Quoting.literal(value));
    }

    @Test
    void tableQuotesBothParts() {
        assertEquals("\"my.schema\".\"t\"\"1\"", Quoting.table(new TableName("my.schema", "t\"1")));
    }

    @Test
    void identifiersAreSeparatedByCommas() {
        assertEquals("\"a\", \"B\"", Quoting.identifiers(List.of("a", "B")));
        assertEquals("", Quoting.identifiers(List.of()));
    }

    @Test
    void zeroCharacterIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Quoting.identifier("a\0b"));
        assertThrows(IllegalArgumentException.class, () -> Quoting.literal("a\0b"));
    }
}
