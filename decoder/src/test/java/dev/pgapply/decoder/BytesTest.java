package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class BytesTest {

    private static final byte[] ARRAY = "xabcx".getBytes(StandardCharsets.US_ASCII);
    private static final Bytes SLICE = new Bytes(ARRAY, 1, 3);

    @Test
    void equalContentsAreEqualWhereverTheyLie() {
        assertEquals(Bytes.utf8("abc"), SLICE);
        assertEquals(Bytes.utf8("abc").hashCode(), SLICE.hashCode());
        assertNotEquals(Bytes.utf8("abd"), SLICE);
        assertNotEquals(Bytes.utf8("ab"), SLICE);
    }

    @Test
    void sliceDoesNotReachBeyondItself() {
        assertEquals('a', SLICE.at(0));
        assertThrows(IndexOutOfBoundsException.class, () -> SLICE.at(3));
        assertThrows(IndexOutOfBoundsException.class, () -> SLICE.at(-1));
    }

    @Test
    void copiesBelongToTheCaller() {
        byte[] original = {1, 2};
        Bytes copy = Bytes.copyOf(original);
        original[0] = 9;
        assertArrayEquals(new byte[] {1, 2}, copy.toByteArray());
        copy.toByteArray()[0] = 9;
        assertArrayEquals(new byte[] {1, 2}, copy.toByteArray());
    }

    @Test
    void printingShowsTheLengthAlone() {
        assertEquals("3 bytes", SLICE.toString());
        assertEquals("abc", SLICE.utf8());
    }
}
