package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SetStatementsTest {

    private static final Column ID = column(1, "id", "int4", 23);
    private static final Column NAME = column(2, "na\"me", "text", 25);

    private final SetStatements plain = new SetStatements(table(TableSchema.Kind.TABLE), false);
    private final SetStatements partitioned = new SetStatements(table(TableSchema.Kind.PARTITIONED), false);

    @Test
    void anUpdateJoinsArraysAndCountsItsRows() {
        assertEquals(
                "WITH met AS (UPDATE ONLY \"s\".\"t\" AS t SET \"na\"\"me\" = x.v1 FROM ROWS FROM"
                        + " (pg_catalog.unnest($1::\"pg_catalog\".\"text\"[]), pg_catalog.unnest($2::\"pg_catalog\".\"int4\"[]))"
                        + " AS x (v1, v2) WHERE t.\"id\" OPERATOR(pg_catalog.=) x.v2 RETURNING 1)"
                        + " SELECT 1 / CASE WHEN pg_catalog.count(*) = $3::pg_catalog.int8 THEN 1 ELSE 0 END FROM met",
                plain.update(List.of(NAME), List.of(ID)));
    }

    @Test
    void rowsOfTheTablesOwnTypeTakeOneParameter() {
        assertEquals(
                "WITH met AS (UPDATE ONLY \"s\".\"t\" AS t SET \"na\"\"me\" = x.\"na\"\"me\""
                        + " FROM pg_catalog.unnest($1::\"s\".\"t\"[]) AS x"
                        + " WHERE t.\"id\" OPERATOR(pg_catalog.=) x.\"id\" RETURNING 1)"
                        + " SELECT 1 / CASE WHEN pg_catalog.count(*) = $2::pg_catalog.int8 THEN 1 ELSE 0 END FROM met",
                new SetStatements(table(TableSchema.Kind.TABLE), true).update(List.of(NAME), List.of(ID)));
    }

    @Test
    void aPartitionedTableMeansTheTree() {
        assertEquals(
                "WITH met AS (DELETE FROM \"s\".\"t\" AS t USING ROWS FROM"
                        + " (pg_catalog.unnest($1::\"pg_catalog\".\"int4\"[])) AS x (v1)"
                        + " WHERE t.\"id\" OPERATOR(pg_catalog.=) x.v1 RETURNING 1)"
                        + " SELECT 1 / CASE WHEN pg_catalog.count(*) = $2::pg_catalog.int8 THEN 1 ELSE 0 END FROM met",
                partitioned.delete(List.of(ID)));
    }

    @Test
    void aCopyNamesItsColumns() {
        assertEquals(
                "COPY \"s\".\"t\" (\"id\", \"na\"\"me\") FROM STDIN (FORMAT binary)",
                plain.copy(List.of(ID, NAME), true));
        assertEquals("COPY \"s\".\"t\" (\"id\") FROM STDIN", plain.copy(List.of(ID), false));
    }

    @ParameterizedTest
    @CsvSource({
        "BASE, 23, true",
        "BASE, 603, false",
        "BASE, 16400, false",
        "ENUM, 16400, true",
        "ARRAY, 1007, false",
        "DOMAIN, 16400, false",
        "RANGE, 3904, true",
        "COMPOSITE, 16400, false"
    })
    void valuesOfSomeTypesCannotStandInAnArray(TypeReference.Kind kind, long oid, boolean fits) {
        assertEquals(
                fits,
                SetStatements.fitsArray(
                        new TypeReference(oid, new TableName("s", "x"), -1, "x", kind, 0, 0, true, true, false)));
    }

    private static Column column(int number, String name, String type, long oid) {
        return new Column(
                number,
                name,
                new TypeReference(
                        oid,
                        new TableName("pg_catalog", type),
                        -1,
                        type,
                        TypeReference.Kind.BASE,
                        0,
                        0,
                        true,
                        true,
                        false),
                false,
                false,
                Column.Identity.NONE,
                Column.Generated.NONE);
    }

    private static TableSchema table(TableSchema.Kind kind) {
        return new TableSchema(
                new TableName("s", "t"),
                1,
                kind,
                TableSchema.Persistence.PERMANENT,
                List.of(ID, NAME),
                List.of(),
                ReplicaIdentity.DEFAULT,
                new TableSchema.RowSecurity(false, false, false),
                false,
                false,
                false,
                false);
    }
}
