package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.target.postgres.RowStatements.Wanted;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RowStatementsTest {

    private static final Column ID = column(1, "id", type(23, "int4", true));
    private static final Column NAME = column(2, "na\"me", type(25, "text", true));
    private static final Column DOC = column(3, "doc", type(114, "json", false));
    private static final Column TAG = column(4, "tag", userType(16_400, "ext", "citext"));

    private final RowStatements plain = new RowStatements(table(TableSchema.Kind.TABLE));
    private final RowStatements partitioned = new RowStatements(table(TableSchema.Kind.PARTITIONED));

    @Test
    void insertNamesColumnsAndOverridesIdentity() {
        RowStatements.Statement statement = plain.insert(List.of(ID, NAME));

        assertEquals(
                "INSERT INTO \"s\".\"t\" (\"id\", \"na\"\"me\") OVERRIDING SYSTEM VALUE VALUES ($1, $2)",
                statement.sql());
        assertEquals(List.of(23, 25), statement.parameterTypes());
    }

    @Test
    void aRowWithoutColumnsIsInsertedByDefaults() {
        assertEquals(
                "INSERT INTO \"s\".\"t\" DEFAULT VALUES",
                plain.insert(List.of()).sql());
    }

    @Test
    void updateByAUniqueKeyLeavesInheritanceChildrenOut() {
        assertEquals(
                "UPDATE ONLY \"s\".\"t\" AS t SET \"na\"\"me\" = $1 WHERE t.\"id\" OPERATOR(pg_catalog.=) $2",
                plain.update(List.of(NAME), List.of(new Wanted(ID, false)), true)
                        .sql());
    }

    @Test
    void updateOfAPartitionedTableMeansTheTree() {
        assertEquals(
                "UPDATE \"s\".\"t\" AS t SET \"na\"\"me\" = $1 WHERE t.\"id\" OPERATOR(pg_catalog.=) $2",
                partitioned
                        .update(List.of(NAME), List.of(new Wanted(ID, false)), true)
                        .sql());
    }

    @Test
    void withoutAKeyExactlyOneRowIsTakenTheIdenticalOneFirst() {
        assertEquals(
                "DELETE FROM ONLY \"s\".\"t\" AS t WHERE t.ctid = (SELECT r.ctid FROM ONLY \"s\".\"t\" AS r"
                        + " WHERE r.\"id\" IS NULL AND r.\"na\"\"me\" OPERATOR(pg_catalog.=) $1"
                        + " ORDER BY (r.\"na\"\"me\"::text OPERATOR(pg_catalog.=) ($1)::text COLLATE pg_catalog.\"C\") DESC"
                        + " LIMIT 1 FOR UPDATE)",
                plain.delete(List.of(new Wanted(ID, true), new Wanted(NAME, false)), false)
                        .sql());
    }

    @Test
    void aRowOfATreeIsPinnedByItsLeafAsWell() {
        assertEquals(
                "DELETE FROM \"s\".\"t\" AS t WHERE (t.tableoid, t.ctid) = (SELECT r.tableoid, r.ctid FROM \"s\".\"t\" AS r"
                        + " WHERE r.\"id\" OPERATOR(pg_catalog.=) $1 LIMIT 1 FOR UPDATE)",
                partitioned.delete(List.of(new Wanted(ID, false)), false).sql());
    }

    @Test
    void typesWithoutEqualityAreComparedAsText() {
        assertEquals(
                "DELETE FROM ONLY \"s\".\"t\" AS t WHERE t.ctid = (SELECT r.ctid FROM ONLY \"s\".\"t\" AS r"
                        + " WHERE r.\"doc\"::text OPERATOR(pg_catalog.=) ($1)::text LIMIT 1 FOR UPDATE)",
                plain.delete(List.of(new Wanted(DOC, false)), false).sql());
    }

    @Test
    void anExtensionsTypeIsComparedByItsOwnOperator() {
        assertEquals(
                "DELETE FROM ONLY \"s\".\"t\" AS t WHERE t.\"tag\" OPERATOR(\"ext\".=) $1",
                plain.delete(List.of(new Wanted(TAG, false)), true).sql());
    }

    @Test
    void replacingKeepsWhatWasNotSent() {
        assertEquals(
                "WITH old AS (DELETE FROM ONLY \"s\".\"t\" AS t WHERE t.\"id\" OPERATOR(pg_catalog.=) $2 RETURNING *)"
                        + " INSERT INTO \"s\".\"t\" (\"id\", \"na\"\"me\", \"doc\", \"tag\") OVERRIDING SYSTEM VALUE"
                        + " SELECT $1, old.\"na\"\"me\", old.\"doc\", old.\"tag\" FROM old",
                plain.replace(List.of(ID), List.of(new Wanted(ID, false)), List.of())
                        .sql());
    }

    @Test
    void truncateNamesEveryTableAndNothingElse() {
        assertEquals(
                "TRUNCATE ONLY \"s\".\"t\", \"s\".\"t\" RESTART IDENTITY RESTRICT",
                RowStatements.truncate(
                        List.of(table(TableSchema.Kind.TABLE), table(TableSchema.Kind.PARTITIONED)), true));
    }

    private static TableSchema table(TableSchema.Kind kind) {
        return new TableSchema(
                new TableName("s", "t"),
                1,
                kind,
                TableSchema.Persistence.PERMANENT,
                List.of(ID, NAME, DOC, TAG),
                List.of(),
                ReplicaIdentity.DEFAULT,
                new TableSchema.RowSecurity(false, false, false),
                false,
                false,
                false,
                false);
    }

    private static Column column(int attnum, String name, TypeReference type) {
        return new Column(attnum, name, type, false, false, Column.Identity.NONE, Column.Generated.NONE);
    }

    private static TypeReference type(long oid, String name, boolean hasEquality) {
        return new TypeReference(
                oid,
                new TableName("pg_catalog", name),
                -1,
                name,
                TypeReference.Kind.BASE,
                0,
                0,
                hasEquality,
                true,
                false);
    }

    private static TypeReference userType(long oid, String schema, String name) {
        return new TypeReference(
                oid, new TableName(schema, name), -1, name, TypeReference.Kind.BASE, 0, 0, true, true, false);
    }
}
