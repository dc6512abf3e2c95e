package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.Value;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class KeyOrderTest {

    @Test
    void binaryNumbersGoByTheirValue() {
        long[] numbers = {5, -1, 1L << 50, 0, -(1L << 50), 700, 70};
        List<Row> rows = LongStream.of(numbers)
                .mapToObj(
                        number -> binary(ByteBuffer.allocate(8).putLong(number).array()))
                .toList();

        assertEquals(List.of(4, 1, 3, 0, 6, 5, 2), sorted(rows));
    }

    @Test
    void numbersInTextGoByTheirValue() {
        assertEquals(List.of(2, 1, 0, 3), sorted(texts("10", "9", "-3", "100")));
    }

    @Test
    void textsGoByTheirBytes() {
        assertEquals(List.of(3, 1, 0, 2), sorted(texts("b", "ab", "ä", "")));
    }

    @Test
    void nothingIsLostWhereManyLookAlike() {
        List<Row> rows = IntStream.range(0, 3000)
                .mapToObj(i -> "same beginning " + (3000 - i))
                .flatMap(text -> texts(text).stream())
                .toList();

        assertEquals(3000, sorted(rows).stream().distinct().count());
    }

    private static List<Integer> sorted(List<Row> rows) {
        NetChanges changes = new NetChanges(0);
        rows.forEach(row -> changes.insert(new NewRow.Full(row)));
        int[] entries = IntStream.range(0, rows.size()).toArray();
        KeyOrder.sort(changes, entries, 0);
        return IntStream.of(entries).boxed().toList();
    }

    private static List<Row> texts(String... values) {
        return Stream.of(values)
                .map(value -> Row.of(List.of(new Value.Text(Bytes.copyOf(value.getBytes(StandardCharsets.UTF_8))))))
                .toList();
    }

    private static Row binary(byte[] value) {
        return Row.of(List.of(new Value.Binary(Bytes.copyOf(value))));
    }
}
