package dev.pgapply.cli.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.TableComparison.Difference;
import dev.pgapply.cli.embedded.TableComparison.Result;
import dev.pgapply.cli.embedded.TableComparison.Side;
import dev.pgapply.decoder.TableName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TableComparisonTest {

    private static final TableName TABLE = new TableName("public", "t");

    @Test
    void equalMultisetsAreIdentical() {
        Result result = compare(List.of("(1)", "(1)", "(2)"), List.of("(2)", "(1)", "(1)"));
        assertTrue(result.identical());
        assertEquals(3, result.sourceRows());
        assertEquals(3, result.targetRows());
    }

    @Test
    void aRowThatIsThereTwiceOnOneSideIsADifference() {
        Result result = compare(List.of("(1)", "(1)", "(2)"), List.of("(1)", "(2)", "(2)"));
        assertFalse(result.identical());
        assertEquals(List.of(new Difference(Side.SOURCE, "(1)"), new Difference(Side.TARGET, "(2)")), result.first());
    }

    @Test
    void rowsAfterTheOtherSidesEndAreDifferences() {
        Result result = compare(List.of(), List.of("(1)", "(2)"));
        assertEquals(0, result.onlySource());
        assertEquals(2, result.onlyTarget());
    }

    @Test
    void bytesAboveAsciiAreComparedUnsigned() {
        Result result = compare(List.of("(z)", "(é)"), List.of("(z)", "(é)", "(ü)"));
        assertEquals(List.of(new Difference(Side.TARGET, "(ü)")), result.first());
    }

    @Test
    void manyDifferencesAreCountedButNotAllReported() {
        List<String> many = java.util.stream.IntStream.range(0, 100)
                .mapToObj(i -> "(" + i + ")")
                .toList();
        Result result = compare(many, List.of());
        assertEquals(100, result.onlySource());
        assertEquals(5, result.first().size());
    }

    @Test
    void aColumnThatTheTargetLacksIsADifference() {
        Result result = new TableComparison(
                        new FixedRows(List.of("a", "b"), List.of()), new FixedRows(List.of("a"), List.of()))
                .compare(TABLE);
        assertFalse(result.identical());
        assertEquals(List.of("b"), result.missingColumns());
    }

    private static Result compare(List<String> source, List<String> target) {
        List<String> columns = List.of("a");
        return new TableComparison(new FixedRows(columns, source), new FixedRows(columns, target)).compare(TABLE);
    }

    private record FixedRows(List<String> columns, List<String> texts) implements RowSource {
        @Override
        public List<TableName> tables() {
            return List.of(TABLE);
        }

        @Override
        public List<String> columns(TableName table) {
            return columns;
        }

        @Override
        public Rows rows(TableName table, List<String> wanted) {
            Iterator<byte[]> sorted = texts.stream()
                    .map(text -> text.getBytes(StandardCharsets.UTF_8))
                    .sorted(Arrays::compareUnsigned)
                    .iterator();
            return new Rows() {
                @Override
                public byte @Nullable [] next() {
                    return sorted.hasNext() ? sorted.next() : null;
                }

                @Override
                public void close() {}
            };
        }
    }
}
