package dev.pgapply.schema;

import static dev.pgapply.schema.Structures.T;
import static dev.pgapply.schema.Structures.column;
import static dev.pgapply.schema.Structures.generated;
import static dev.pgapply.schema.Structures.notNull;
import static dev.pgapply.schema.Structures.published;
import static dev.pgapply.schema.Structures.table;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SchemaComparisonTest {

    private static final TableSchema SOURCE = table(List.of(column("a"), column("B"), column("hidden")));

    @Test
    void aTargetWithTheSameNamesFitsWhateverElseItHas() {
        TableSchema target = table(List.of(column("extra"), column("B"), column("a")));
        assertEquals(List.of(), compare(target).differences());
    }

    @Test
    void aMissingTableIsReported() {
        SchemaComparison comparison =
                SchemaComparison.of(List.of(published(SOURCE, "a", "B")), Map.of(T, SOURCE), Map.of());
        assertEquals(
                List.of("table public.t does not exist on the target"),
                comparison.blocking().stream().map(SchemaDifference::describe).toList());
    }

    @Test
    void everyPublishedColumnThatIsMissingIsNamed() {
        assertEquals(
                List.of("table public.t of the target lacks a, B"), described(compare(table(List.of(column("b"))))));
    }

    @Test
    void aTableThatWasDroppedAtTheSourceIsLeftOut() {
        assertEquals(
                List.of(),
                SchemaComparison.of(List.of(published(SOURCE, "a")), Map.of(), Map.of())
                        .differences());
    }

    @ParameterizedTest
    @EnumSource
    void onlyTablesTakeRows(TableSchema.Kind kind) {
        SchemaComparison comparison = compare(table(kind, SOURCE.columns()));
        assertEquals(kind.takesRows() ? 0 : 1, comparison.blocking().size());
    }

    @Test
    void columnsThatTheTargetComputesAreAWarning() {
        SchemaComparison comparison = compare(table(List.of(generated("a"), column("B"))));
        assertEquals(List.of(), comparison.blocking());
        assertEquals(1, comparison.warnings().size());
    }

    @Test
    void columnsThatNobodyFillsAreAWarning() {
        SchemaComparison comparison = compare(table(List.of(column("a"), column("B"), notNull("own"))));
        assertEquals(List.of(), comparison.blocking());
        assertEquals(
                List.of(
                        "table public.t of the target has NOT NULL columns without default that are not published: own"),
                described(comparison));
    }

    private static List<String> described(SchemaComparison comparison) {
        return comparison.differences().stream().map(SchemaDifference::describe).toList();
    }

    private static SchemaComparison compare(TableSchema target) {
        return SchemaComparison.of(List.of(published(SOURCE, "a", "B")), Map.of(T, SOURCE), Map.of(T, target));
    }
}
