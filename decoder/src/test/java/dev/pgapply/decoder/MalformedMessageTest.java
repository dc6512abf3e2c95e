package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What is not a message is told so, whatever it is. `-Dpgapply.fuzz=` says how many inputs are tried,
/// `-Dpgapply.seed=` repeats a failed run.
class MalformedMessageTest {

    private static final int INPUTS = Integer.getInteger("pgapply.fuzz", 100_000);
    private static final long SEED = Long.getLong("pgapply.seed", System.nanoTime());
    private static final byte[] TAGS = "BCORYIUDTMScAbPKrp".getBytes(StandardCharsets.US_ASCII);

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "empty                                  | ''",
                "unknown kind                           | 5a",
                "commit with a flag                     | 43 01 0000000000000001 0000000000000002 0000000000000000",
                "begin at 0/0                           | 42 0000000000000000 0000000000000000 00000001",
                "stream stop without start              | 45",
                "stream of transaction 0                | 53 00000000 01",
                "stream start with an undefined flag    | 53 00000001 02",
                "insert without a row                   | 49 00000001",
                "insert of an old row                   | 49 00000001 4b 0000",
                "more columns than bytes                | 49 00000001 4e ffff",
                "unknown kind of value                  | 49 00000001 4e 0001 78",
                "value longer than the rest             | 49 00000001 4e 0001 74 00000002 61",
                "value of negative length               | 49 00000001 4e 0001 74 ffffffff",
                "update without a new row               | 55 00000001 4b 0001 6e",
                "unchanged value in an old row          | 44 00000001 4b 0001 75",
                "delete of a new row                    | 44 00000001 4e 0001 6e",
                "truncate of more tables than bytes     | 54 7fffffff 00 00000001",
                "truncate of a negative number of tables| 54 ffffffff 00",
                "truncate with an undefined flag        | 54 00000000 04",
                "more described columns than bytes      | 52 00000001 00 7400 64 ffff",
                "unknown replica identity               | 52 00000001 00 7400 78 0000",
                "column with an undefined flag          | 52 00000001 00 7400 64 0001 02 6100 00000017 ffffffff",
                "name that is not UTF-8                 | 52 00000001 00 ff00 64 0000",
                "name without an end                    | 52 00000001 00 74",
                "message longer than the rest           | 4d 00 0000000000000000 00 00000001",
                "message of negative length             | 4d 00 0000000000000000 00 ffffffff",
                "gid without an end                     | 4b 00 0000000000000001 0000000000000002 0000000000000000 00000001 67"
            })
    void isRejected(String what, String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        MalformedMessageException e = assertThrows(
                MalformedMessageException.class, () -> new PgOutputDecoder().decode(bytes, 0, bytes.length), what);
        assertEquals(bytes.length, e.length());
        assertTrue(e.offset() <= bytes.length);
    }

    @Test
    void streamBlockInsideAStreamBlockIsRejected() {
        byte[] start = HexFormat.of().parseHex("530000000101");
        PgOutputDecoder decoder = new PgOutputDecoder();
        decoder.decode(start, 0, start.length);
        assertThrows(MalformedMessageException.class, () -> decoder.decode(start, 0, start.length));
    }

    @Test
    void errorNeverShowsPayload() {
        byte[] bytes = "I\0\0\0\1N\0\1t\0\0\0\3secret".getBytes(StandardCharsets.ISO_8859_1);
        MalformedMessageException e = assertThrows(
                MalformedMessageException.class, () -> new PgOutputDecoder().decode(bytes, 0, bytes.length));
        assertFalse(e.toString().contains("sec"));
        assertEquals("malformed message of kind 'I': 3 bytes are left over (at byte 16 of 19)", e.getMessage());
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void randomBytesAreAMessageOrMalformed() {
        RandomGenerator random = new java.util.Random(SEED);
        for (int i = 0; i < INPUTS; i++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 0 && random.nextInt(8) > 0) {
                bytes[0] = TAGS[random.nextInt(TAGS.length)];
            }
            if (random.nextBoolean()) {
                makeNumbersSmall(bytes, random);
            }
            isAMessageOrMalformed(bytes, random.nextBoolean());
        }
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void damagedMessageIsAMessageOrMalformed() {
        RandomGenerator random = new java.util.Random(SEED);
        List<Bytes> originals = Vectors.all()
                .flatMap(capture -> capture.messages().stream())
                .map(Vectors.Message::bytes)
                .filter(bytes -> bytes.length() < 1000)
                .distinct()
                .toList();
        for (int i = 0; i < INPUTS; i++) {
            byte[] bytes = originals.get(random.nextInt(originals.size())).toByteArray();
            for (int damage = random.nextInt(3); damage >= 0; damage--) {
                bytes = damage(bytes, random);
            }
            isAMessageOrMalformed(bytes, random.nextBoolean());
        }
    }

    /// Without this nearly all counts and lengths are far too large, and nothing behind them is ever reached.
    private static void makeNumbersSmall(byte[] bytes, RandomGenerator random) {
        for (int i = 1; i < bytes.length; i++) {
            if (random.nextInt(4) > 0) {
                bytes[i] = (byte) "\0\0\0\0\0\1\2\5NKOntub".charAt(random.nextInt(15));
            }
        }
    }

    private static byte[] damage(byte[] bytes, RandomGenerator random) {
        if (bytes.length == 0) {
            return bytes;
        }
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(4)) {
            case 0 -> bytes[at] = (byte) random.nextInt(256);
            case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 2 -> {
                return Arrays.copyOf(bytes, at);
            }
            default -> {
                byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
                System.arraycopy(bytes, at, longer, at + 1, bytes.length - at);
                return longer;
            }
        }
        return bytes;
    }

    private static void isAMessageOrMalformed(byte[] bytes, boolean inStream) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        try {
            if (inStream) {
                decoder.decode(new byte[] {'S', 0, 0, 0, 1, 1}, 0, 6);
            }
            // Printing it visits every value, so that a place outside of the message would be noticed.
            MessageText.of(decoder.decode(bytes, 0, bytes.length));
        } catch (MalformedMessageException e) {
            assertEquals(bytes.length, e.length());
        } catch (Throwable e) {
            throw new AssertionError(
                    "seed %d: %s in a stream %b".formatted(SEED, HexFormat.of().formatHex(bytes), inStream), e);
        }
    }
}
