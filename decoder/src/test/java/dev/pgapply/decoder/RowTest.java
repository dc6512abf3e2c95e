package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowTest {

    private static final Row ROW =
            Row.of(List.of(Value.text("ab"), Value.NULL, Value.UNCHANGED, Value.binary(new byte[] {0, 1, 2})));

    @Test
    void columnsAreWhatTheyWereMadeOf() {
        assertEquals(4, ROW.columnCount());
        assertEquals(Value.text("ab"), ROW.value(0));
        assertSame(Value.NULL, ROW.value(1));
        assertSame(Value.UNCHANGED, ROW.value(2));
        assertEquals(Value.binary(new byte[] {0, 1, 2}), ROW.value(3));
    }

    @Test
    void offsetAndLengthFindTheValueInTheSharedArray() {
        assertEquals(Row.BINARY, ROW.kind(3));
        assertArrayEquals(
                new byte[] {0, 1, 2}, Arrays.copyOfRange(ROW.bytes(), ROW.offset(3), ROW.offset(3) + ROW.length(3)));
        assertEquals(0, ROW.length(1));
        assertEquals(0, ROW.length(2));
    }

    @Test
    void decodedRowEqualsOneMadeOfItsValues() {
        byte[] message = HexFormat.of().parseHex("49000041184e0004740000000131740000000261626e740000000137");
        PgOutputDecoder decoder = new PgOutputDecoder();
        PgOutputMessage.Insert insert = (PgOutputMessage.Insert) decoder.decode(message, 0, message.length);
        Row made = Row.of(List.of(Value.text("1"), Value.text("ab"), Value.NULL, Value.text("7")));
        assertEquals(made, insert.newRow().row());
        assertEquals(made.hashCode(), insert.newRow().row().hashCode());
        assertSame(message, insert.newRow().row().bytes());
    }

    @Test
    void unchangedIsKnownWithoutLooking() {
        assertTrue(ROW.hasUnchanged());
        assertFalse(Row.of(List.of(Value.NULL)).hasUnchanged());
    }

    @Test
    void sameBytesComparesKindAndContents() {
        Row other = Row.of(List.of(
                Value.binary(new byte[] {'a', 'b'}), Value.text("ab"), Value.text("abc"), Value.NULL, Value.UNCHANGED));
        assertFalse(ROW.sameBytes(0, other, 0));
        assertTrue(ROW.sameBytes(0, other, 1));
        assertFalse(ROW.sameBytes(0, other, 2));
        assertTrue(ROW.sameBytes(1, other, 3));
        assertFalse(ROW.sameBytes(1, other, 4));
        assertTrue(ROW.sameBytes(2, other, 4));
    }

    @Test
    void textAndBinaryOfTheSameBytesAreNotEqual() {
        assertNotEquals(Row.of(List.of(Value.text("ab"))), Row.of(List.of(Value.binary(new byte[] {'a', 'b'}))));
    }

    @Test
    void columnOutsideTheRowIsAnError() {
        assertThrows(IndexOutOfBoundsException.class, () -> ROW.kind(4));
        assertThrows(IndexOutOfBoundsException.class, () -> ROW.length(-1));
    }

    @Test
    void printingShowsNoValue() {
        assertEquals("Row[tnub, 19 bytes]", ROW.toString());
        assertFalse(new NewRow.Partial(ROW).toString().contains("ab,"));
        assertEquals("Text[bytes=2 bytes]", Value.text("ab").toString());
    }

    @Test
    void retainedBytesGrowWithTheValues() {
        long small = Row.of(List.of(Value.text("a"))).retainedBytes();
        long large = Row.of(List.of(Value.text("a".repeat(1001)))).retainedBytes();
        assertEquals(1000, large - small);
    }
}
