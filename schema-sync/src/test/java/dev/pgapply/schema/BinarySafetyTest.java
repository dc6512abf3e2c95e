package dev.pgapply.schema;

import static dev.pgapply.schema.Structures.column;
import static dev.pgapply.schema.Structures.generated;
import static dev.pgapply.schema.Structures.relation;
import static dev.pgapply.schema.Structures.table;
import static dev.pgapply.schema.Structures.type;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.schema.TypeReference.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BinarySafetyTest {

    private static final BinarySafety SAME = new BinarySafety(180_006, 180_006);

    @ParameterizedTest
    @CsvSource({
        "23,    integer,   BASE,       23,    true",
        "25,    text,      BASE,       25,    true",
        "1007,  integer[], ARRAY,      1007,  true",
        "3904,  int4range, RANGE,      3904,  true",
        "4451,  int4multirange, MULTIRANGE, 4451, true",
        "790,   money,     BASE,       790,   true",
        "3802,  jsonb,     BASE,       3802,  true",
        "20,    bigint,    BASE,       23,    false",
        "2205,  regclass,  BASE,       2205,  false",
        "142,   xml,       BASE,       142,   false",
        "3614,  tsvector,  BASE,       3614,  false",
        "16400, mood,      ENUM,       16400, false",
        "16401, mood[],    ARRAY,      16401, false",
        "16402, short,     DOMAIN,     16402, false",
        "16403, pair,      COMPOSITE,  16403, false",
        "16404, citext,    BASE,       16404, false",
        "16405, span,      RANGE,      16405, false",
    })
    void onlyBuiltInTypesOfTheSameMeaningAreSafe(
            long targetOid, String sql, Kind kind, long sourceOid, boolean expected) {
        assertEquals(expected, SAME.isSafe(sourceOid, type(targetOid, sql, kind)));
    }

    @Test
    void aTypeThatCannotBeReceivedTravelsAsText() {
        TypeReference noBinary = new TypeReference(
                1033, type(1033, "aclitem", Kind.BASE).name(), -1, "aclitem", Kind.BASE, 0, 0, true, false, false);
        assertFalse(SAME.isSafe(1033, noBinary));
    }

    @ParameterizedTest
    @CsvSource({
        "160000, 160000, true",
        "170000, 170000, true",
        "160000, 180000, true",
        "180000, 160000, false",
    })
    void anInfiniteIntervalMayNotBecomeAFiniteOne(int source, int target, boolean expected) {
        BinarySafety safety = new BinarySafety(source, target);
        assertEquals(expected, safety.isSafe(1186, type(1186, "interval", Kind.BASE)));
        assertEquals(expected, safety.isSafe(1187, type(1187, "interval[]", Kind.ARRAY)));
    }

    @Test
    void oneUnsafeColumnMakesARelationUnsafeUnlessItIsIgnored() {
        TypeReference enumeration = type(16400, "mood", Kind.ENUM);
        assertTrue(isSafe(table(List.of(column("a"), column("b")))));
        assertFalse(isSafe(table(List.of(column("a"), column("b", enumeration)))));
        assertTrue(isSafe(table(List.of(column("a"), generated("b")))));
        assertTrue(isSafe(table(List.of(column("a"), column("b"), column("c", enumeration)))));
    }

    private static boolean isSafe(TableSchema target) {
        return SAME.isSafe(ColumnMapping.of(relation(ReplicaIdentity.DEFAULT, "a*", "b"), target));
    }

    @Test
    void aCopyIsJudgedByItsOwnColumns() {
        TableSchema source = table(List.of(column("a"), column("m", type(16400, "mood", Kind.ENUM))));
        assertTrue(SAME.isSafe(source, source, List.of("a")));
        assertFalse(SAME.isSafe(source, source, List.of("a", "m")));
        assertFalse(SAME.isSafe(source, table(List.of()), List.of("a")));
        assertTrue(SAME.isSafe(source, source, List.of()));
    }
}
