package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Publications;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SourceCopyQuery;
import dev.pgapply.schema.postgres.SourceCopyQuery.Format;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/// The copy reads the rows and columns that the stream would send, no others.
final class CopyQueryIT {

    static List<Integer> majors() {
        return SharedServer.majors();
    }

    static IntStream majorsFrom13() {
        return SharedServer.majors().stream().mapToInt(major -> major).filter(major -> major >= 13);
    }

    static IntStream majorsFrom15() {
        return majorsFrom13().filter(major -> major >= 15);
    }

    @ParameterizedTest
    @MethodSource("majors")
    void inheritedRowsComeOnceAndTablesWithoutColumnsKeepTheirRows(int major) throws SQLException, IOException {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE base (id int, \"V\" text)",
                        "CREATE TABLE sub (extra int) INHERITS (base)",
                        "INSERT INTO base VALUES (1, 'b'), (2, NULL)",
                        "INSERT INTO sub VALUES (3, 's', 9)",
                        "CREATE TABLE zero ()",
                        "INSERT INTO zero DEFAULT VALUES",
                        "INSERT INTO zero DEFAULT VALUES",
                        "CREATE TABLE zero_child () INHERITS (zero)",
                        "INSERT INTO zero_child DEFAULT VALUES",
                        "CREATE PUBLICATION p FOR ALL TABLES");
        assertEquals(
                Map.of(
                        "base", List.of("1\tb", "2\t\\N"),
                        "sub", List.of("3\ts\t9"),
                        "zero", List.of("", ""),
                        "zero_child", List.of("")),
                copied(database));
    }

    @ParameterizedTest
    @MethodSource("majorsFrom13")
    void aRootIsCopiedWithAllItsPartitions(int major) throws SQLException, IOException {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE q (id int, r text) PARTITION BY LIST (r)",
                        "CREATE TABLE q_a PARTITION OF q FOR VALUES IN ('a')",
                        "CREATE TABLE q_b (r text, id int)",
                        "ALTER TABLE q ATTACH PARTITION q_b FOR VALUES IN ('b')",
                        "INSERT INTO q VALUES (1, 'a'), (2, 'b')",
                        "CREATE PUBLICATION p FOR ALL TABLES WITH (publish_via_partition_root = true)");
        assertEquals(Map.of("q", List.of("1\ta", "2\tb")), copied(database));
        database.execute("ALTER PUBLICATION p SET (publish_via_partition_root = false)");
        assertEquals(Map.of("q_a", List.of("1\ta"), "q_b", List.of("b\t2")), copied(database));
    }

    @ParameterizedTest
    @MethodSource("majorsFrom15")
    void filtersAndListsHoldForTheCopy(int major) throws SQLException, IOException {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (id int PRIMARY KEY, st text, \"Priv\" text)",
                        "CREATE TABLE t_child () INHERITS (t)",
                        "INSERT INTO t VALUES (1, 'on', 'x'), (2, 'off', 'y'), (3, NULL, 'z'), (4, 'it''s', 'q')",
                        "INSERT INTO t_child VALUES (9, 'on', 'child')",
                        "CREATE PUBLICATION p FOR TABLE ONLY t (id, st) WHERE (st = 'on')",
                        "CREATE PUBLICATION q FOR TABLE ONLY t (id, st) WHERE (st = 'it''s')");
        assertEquals(Map.of("t", List.of("1\ton")), copied(database, "p"));
        assertEquals(Map.of("t", List.of("1\ton", "4\tit's")), copied(database, "p", "q"));
    }

    @ParameterizedTest
    @MethodSource("majorsFrom13")
    void generatedColumnsAreCopiedWhereTheyArePublished(int major) throws SQLException, IOException {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a * 2) STORED, b int)",
                        "CREATE TABLE only_generated (g int GENERATED ALWAYS AS (1) STORED)",
                        "INSERT INTO t (a, b) VALUES (1, 7)",
                        "INSERT INTO only_generated DEFAULT VALUES",
                        "CREATE PUBLICATION p FOR ALL TABLES");
        assertEquals(Map.of("t", List.of("1\t7"), "only_generated", List.of("")), copied(database));
        if (major >= 18) {
            database.execute("ALTER PUBLICATION p SET (publish_generated_columns = stored)");
            assertEquals(Map.of("t", List.of("1\t2\t7"), "only_generated", List.of("1")), copied(database));
        }
    }

    private static Map<String, List<String>> copied(SharedServer.Database database, String... publications)
            throws SQLException, IOException {
        Map<String, List<String>> copied = new TreeMap<>();
        try (PostgresSession session = database.open(SessionProfile.SOURCE_COPY)) {
            var copy = session.connection().unwrap(PGConnection.class).getCopyAPI();
            List<String> names = publications.length == 0 ? List.of("p") : Arrays.asList(publications);
            for (PublishedTable table : new Publications(session).publishedTables(names)) {
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                copy.copyOut(SourceCopyQuery.copyOut(table, Format.TEXT), text);
                List<String> rows = new ArrayList<>(
                        text.toString(StandardCharsets.UTF_8).lines().sorted().toList());
                copied.put(table.name().name(), rows);
                ByteArrayOutputStream binary = new ByteArrayOutputStream();
                long count = copy.copyOut(SourceCopyQuery.copyOut(table, Format.BINARY), binary);
                assertEquals(rows.size(), count);
                assertEquals(
                        "PGCOPY", binary.toString(StandardCharsets.ISO_8859_1).substring(0, 6));
            }
        }
        return copied;
    }
}
