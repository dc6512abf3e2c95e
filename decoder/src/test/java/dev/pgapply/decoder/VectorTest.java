package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every message of every capture. `-Dpgapply.vectors=describe` writes the expected texts anew before.
class VectorTest {

    @BeforeAll
    static void describeIfAsked() throws IOException {
        if (System.getProperty("pgapply.vectors", "").equals("describe")) {
            Vectors.describeAnew();
        }
    }

    static Stream<Vectors.Capture> captures() {
        return Vectors.all();
    }

    /// 020_messages: #135
    @ParameterizedTest
    @MethodSource("captures")
    void messageSaysWhatStandsBesideIt(Vectors.Capture capture) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        for (Vectors.Message message : capture.messages()) {
            assertEquals(message.expected(), MessageText.of(message.decode(decoder)));
        }
    }

    /// The decoder's state survives a malformed message, so the whole one still decodes after all its prefixes.
    @ParameterizedTest
    @MethodSource("captures")
    void properPrefixIsRejected(Vectors.Capture capture) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        for (Vectors.Message message : capture.messages()) {
            byte[] bytes = message.bytes().array();
            for (int length = 0; length < bytes.length; length++) {
                if (!isAlsoAShortAbort(bytes, length)) {
                    byte[] prefix = Arrays.copyOf(bytes, length);
                    assertThrows(
                            MalformedMessageException.class,
                            () -> decoder.decode(prefix, 0, prefix.length),
                            () -> prefix.length + " bytes of " + message.expected());
                }
            }
            message.decode(decoder);
        }
    }

    /// The same bytes inside a larger array, to which an unchecked read would run on.
    @ParameterizedTest
    @MethodSource("captures")
    void leftoverByteIsRejected(Vectors.Capture capture) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        for (Vectors.Message message : capture.messages()) {
            byte[] bytes = message.bytes().array();
            byte[] padded = Arrays.copyOf(bytes, bytes.length + 40);
            assertThrows(
                    MalformedMessageException.class,
                    () -> decoder.decode(padded, 0, bytes.length + 1),
                    message.expected());
            assertEquals(message.expected(), MessageText.of(decoder.decode(padded, 0, bytes.length)));
        }
    }

    @Test
    void everyKindOfMessageWasCaptured() {
        Set<Character> kinds = new HashSet<>();
        captures()
                .flatMap(capture -> capture.messages().stream())
                .forEach(message -> kinds.add((char) message.bytes().at(0)));
        assertEquals(
                Set.of('B', 'C', 'O', 'R', 'Y', 'I', 'U', 'D', 'T', 'M', 'S', 'E', 'c', 'A', 'b', 'P', 'K', 'r', 'p'),
                kinds);
    }

    /// With `streaming = parallel` an abort is longer, but its first nine bytes are what the shorter form
    /// consists of.
    private static boolean isAlsoAShortAbort(byte[] bytes, int length) {
        return bytes[0] == 'A' && length == 9;
    }

    @Test
    void abortIsLongOnlyWhenStreamingIsParallel() {
        captures().filter(capture -> capture.scenario().startsWith("stream")).forEach(capture -> {
            int expected = capture.options().equals("parallel") ? 25 : 9;
            for (Vectors.Message message : capture.messages()) {
                if (message.bytes().at(0) == 'A') {
                    assertEquals(expected, message.bytes().length(), capture.name());
                }
            }
        });
        assertTrue(captures().anyMatch(capture -> capture.options().equals("parallel")));
    }
}
