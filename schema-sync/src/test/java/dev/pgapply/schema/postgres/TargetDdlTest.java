package dev.pgapply.schema.postgres;

import static dev.pgapply.schema.Structures.T;
import static dev.pgapply.schema.Structures.column;
import static dev.pgapply.schema.Structures.key;
import static dev.pgapply.schema.Structures.notNull;
import static dev.pgapply.schema.Structures.published;
import static dev.pgapply.schema.Structures.table;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.schema.SchemaComparison;
import dev.pgapply.schema.TableSchema;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TargetDdlTest {

    private static final TableSchema SOURCE =
            table(List.of(notNull("Id"), column("v"), column("hidden")), key("t_pkey", true, true, "Id"));

    @Test
    void aMissingTableIsCreatedWithItsPublishedColumnsAndItsKey() {
        assertEquals(
                "CREATE TABLE \"public\".\"t\" (\"Id\" integer NOT NULL, \"v\" integer, PRIMARY KEY (\"Id\"));",
                mending(Map.of(), "Id", "v"));
    }

    @Test
    void aKeyThatIsNotPublishedIsLeftOut() {
        assertEquals("CREATE TABLE \"public\".\"t\" (\"v\" integer);", mending(Map.of(), "v"));
        assertEquals("CREATE TABLE \"public\".\"t\" ();", mending(Map.of()));
    }

    @Test
    void missingColumnsAreAddedInOneStatement() {
        assertEquals(
                "ALTER TABLE \"public\".\"t\" ADD COLUMN \"Id\" integer, ADD COLUMN \"v\" integer;",
                mending(Map.of(T, table(List.of(column("other")))), "Id", "v"));
    }

    @Test
    void nothingIsMendedWhereNothingDiffers() {
        assertEquals("", mending(Map.of(T, SOURCE), "Id", "v"));
    }

    @Test
    void aViewMakesRoomForATable() {
        assertEquals(
                "ALTER VIEW \"public\".\"t\" RENAME TO \"t_old\";\nCREATE TABLE \"public\".\"t\" (\"v\" integer);",
                mending(Map.of(T, table(TableSchema.Kind.VIEW, List.of(column("v")))), "v"));
    }

    @Test
    void rowLevelSecurityIsMendedForTheRoleThatWrites() {
        TableSchema plain = table(List.of(column("v")));
        TableSchema secured = new TableSchema(
                T,
                1,
                plain.kind(),
                plain.persistence(),
                plain.columns(),
                plain.keys(),
                plain.replicaIdentity(),
                new TableSchema.RowSecurity(true, false, true),
                false,
                false,
                false,
                false);
        assertEquals("ALTER ROLE \"writer\" BYPASSRLS;", mending(Map.of(T, secured), "v"));
    }

    private static String mending(Map<dev.pgapply.decoder.TableName, TableSchema> target, String... published) {
        return TargetDdl.mending(
                SchemaComparison.of(List.of(published(SOURCE, published)), Map.of(T, SOURCE), target), "writer");
    }
}
