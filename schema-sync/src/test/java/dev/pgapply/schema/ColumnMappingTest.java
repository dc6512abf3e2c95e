package dev.pgapply.schema;

import static dev.pgapply.schema.Structures.column;
import static dev.pgapply.schema.Structures.generated;
import static dev.pgapply.schema.Structures.key;
import static dev.pgapply.schema.Structures.relation;
import static dev.pgapply.schema.Structures.table;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.ReplicaIdentity;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ColumnMappingTest {

    @Test
    void columnsAreFoundByExactNameInAnyOrder() {
        TableSchema target = table(List.of(column("extra"), column("id"), column("Id"), column("v")));
        ColumnMapping mapping = ColumnMapping.of(relation(ReplicaIdentity.DEFAULT, "v", "Id", "id"), target);
        assertEquals(3, mapping.wireColumns());
        assertEquals(3, mapping.targetIndex(0));
        assertEquals(2, mapping.targetIndex(1));
        assertEquals(1, mapping.targetIndex(2));
        assertEquals("Id", mapping.targetColumn(1).name());
        assertEquals(Optional.of(2), mapping.wireIndex("id"));
        assertEquals(Optional.empty(), mapping.wireIndex("extra"));
    }

    @Test
    void everyMissingColumnIsNamed() {
        SchemaException.ColumnsMissing missing = assertThrows(
                SchemaException.ColumnsMissing.class,
                () -> ColumnMapping.of(
                        relation(ReplicaIdentity.DEFAULT, "a", "ID", "b"), table(List.of(column("a"), column("id")))));
        assertEquals(List.of("ID", "b"), missing.columns());
        assertEquals("table public.t of the target lacks the columns ID, b", missing.getMessage());
    }

    @Test
    void whatTheTargetGeneratesIsIgnored() {
        ColumnMapping mapping = ColumnMapping.of(
                relation(ReplicaIdentity.FULL, "a*", "g*"),
                table(List.of(column("a"), generated("g")), key("k", false, true, "g")));
        assertTrue(mapping.isIgnored(1));
        assertEquals(Optional.empty(), mapping.wireIndex("g"));
        assertEquals(Optional.empty(), mapping.lookupKey());
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "a*;b;c,     k_a",
                "a*;b*;c,    k_a",
                "a;b*;c,     k_b",
                "a;b*;c*,    k_b",
                "a;b;c*,     none",
                "a;b;c,      none",
                "a*;b*;c*,   k_a",
            })
    void aRowIsFoundByAKeyWhoseColumnsTheSourceFlags(String columns, String expected) {
        TableSchema target = table(
                List.of(column("a"), column("b"), column("c")),
                key("k_bc", false, true, "b", "c"),
                key("k_a", true, true, "a"),
                key("k_b", false, true, "b"),
                key("k_c", false, false, "c"));
        ColumnMapping mapping = ColumnMapping.of(relation(ReplicaIdentity.DEFAULT, columns.split(";")), target);
        assertEquals(Optional.ofNullable(expected), mapping.lookupKey().map(UniqueKey::index));
    }

    @Test
    void aRelationWithoutColumnsMapsToAnyTable() {
        assertEquals(
                0,
                ColumnMapping.of(relation(ReplicaIdentity.FULL), table(List.of()))
                        .wireColumns());
    }
}
