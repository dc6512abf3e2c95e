package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.PublicationUnusable;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Publications;
import dev.pgapply.schema.postgres.SessionProfile;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What publications offer, as the source itself would send it.
final class PublicationsIT {

    private static final String[] PARTITIONS = {
        "CREATE TABLE q (id int NOT NULL, r text NOT NULL) PARTITION BY LIST (r)",
        "CREATE TABLE q_a PARTITION OF q FOR VALUES IN ('a')",
        "CREATE TABLE q_b PARTITION OF q FOR VALUES IN ('b', 'c') PARTITION BY LIST (r)",
        "CREATE TABLE q_b1 PARTITION OF q_b FOR VALUES IN ('b')"
    };

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
    void allTablesAreThoseThatTheServerWouldSend(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE keyed (id int PRIMARY KEY, \"B\" text)",
                        "CREATE TABLE keyless (a int)",
                        "CREATE TABLE full_identity (a int)",
                        "ALTER TABLE full_identity REPLICA IDENTITY FULL",
                        "CREATE TABLE nothing (a int PRIMARY KEY)",
                        "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
                        "CREATE UNLOGGED TABLE unlogged (a int)",
                        "CREATE VIEW v AS SELECT 1",
                        "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a",
                        "CREATE TABLE zero ()",
                        "CREATE SCHEMA pgapply",
                        "CREATE TABLE pgapply.progress (a int)",
                        "INSERT INTO keyed SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i",
                        "ANALYZE keyed");
        try (PostgresSession session = database.open(SessionProfile.SOURCE_CONTROL)) {
            Publications publications = new Publications(session);
            assertTrue(publications.all().isEmpty());
            publications.createForAllTables("My pub", false);
            assertEquals(
                    "Publication[name=My pub, allTables=true, inserts=true, updates=true, deletes=true, truncates="
                            + (major >= 11) + ", viaRoot=false]",
                    String.valueOf(publications.all().get("My pub")));
            List<PublishedTable> tables = publications.publishedTables(List.of("My pub"));
            assertEquals(
                    List.of(
                            "public.full_identity [a] true",
                            "public.keyed [id, B] true",
                            "public.keyless [a] false",
                            "public.nothing [a] false",
                            "public.zero [] false"),
                    tables.stream()
                            .map(table -> table.name() + " " + table.columns() + " " + table.hasIdentity())
                            .toList());
            PublishedTable keyed = tables.get(1);
            assertEquals(TableSchema.Kind.TABLE, keyed.kind());
            assertEquals(1000, keyed.estimatedRows());
            assertTrue(keyed.estimatedBytes() >= 100_000, () -> "" + keyed.estimatedBytes());
            assertFalse(keyed.lacksIdentity());
            assertFalse(keyed.columnList());
            assertTrue(tables.get(2).lacksIdentity());
            assertEquals(Optional.empty(), keyed.rowFilter());
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void anInsertOnlyPublicationNeedsNoIdentity(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (a int)",
                        "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert')",
                        "CREATE PUBLICATION other FOR TABLE t");
        assertFalse(published(database, "p").getFirst().lacksIdentity());
        assertTrue(published(database, "p", "other").getFirst().lacksIdentity());
        assertEquals(1, published(database, "p", "other").size());
    }

    @ParameterizedTest
    @MethodSource("majors")
    void aMissingPublicationIsNamedTogetherWithThoseThatExist(int major) {
        SharedServer.Database database = SharedServer.of(major).database("CREATE PUBLICATION here");
        PublicationUnusable missing =
                assertThrows(PublicationUnusable.class, () -> published(database, "here", "It's"));
        assertEquals("publication does not exist: It's", missing.getMessage());
        assertEquals("There are: here.\nCREATE PUBLICATION \"It's\" FOR ALL TABLES;", missing.hint());
        assertEquals(List.of(), published(database, "here"));
    }

    @ParameterizedTest
    @MethodSource("majors")
    void generatedColumnsAreLeftOutUntilTheyCanBePublished(int major) {
        if (major < 12) {
            return;
        }
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (gone int, a int PRIMARY KEY, g int GENERATED ALWAYS AS (a * 2) STORED, b int)",
                        "ALTER TABLE t DROP COLUMN gone",
                        "CREATE TABLE only_generated (g int GENERATED ALWAYS AS (1) STORED)",
                        "CREATE PUBLICATION p FOR TABLE t, only_generated");
        assertEquals(List.of("public.only_generated [] [] false", "public.t [a, b] [] false"), columns(database, "p"));
        if (major >= 18) {
            database.execute("ALTER PUBLICATION p SET (publish_generated_columns = stored)");
            assertEquals(
                    List.of("public.only_generated [g] [g] false", "public.t [a, g, b] [g] false"),
                    columns(database, "p"));
            database.execute("CREATE PUBLICATION listed FOR TABLE t (g, a)");
            assertEquals(List.of("public.t [a, g] [g] true"), columns(database, "listed"));
        }
    }

    private static List<String> columns(SharedServer.Database database, String publication) {
        return published(database, publication).stream()
                .map(table -> table.name() + " " + table.columns() + " " + table.generatedColumns() + " "
                        + table.columnList())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void partitionsAreOfferedAsLeavesOrAsTheirTopmostRoot(int major) {
        SharedServer.Database database = SharedServer.of(major).database(PARTITIONS);
        database.execute("CREATE PUBLICATION everything FOR ALL TABLES");
        assertEquals(List.of("public.q_a TABLE", "public.q_b1 TABLE"), kinds(database, "everything"));
        if (major < 13) {
            return;
        }
        database.execute(
                "CREATE PUBLICATION root FOR TABLE q WITH (publish_via_partition_root = true)",
                "CREATE PUBLICATION middle FOR TABLE q_b WITH (publish_via_partition_root = true)",
                "CREATE PUBLICATION leaf FOR TABLE q_b1");
        assertEquals(List.of("public.q PARTITIONED"), kinds(database, "root"));
        assertEquals(List.of("public.q_b PARTITIONED"), kinds(database, "leaf", "middle"));
        assertEquals(List.of("public.q_a TABLE", "public.q_b PARTITIONED"), kinds(database, "everything", "middle"));
        assertEquals(List.of("public.q PARTITIONED"), kinds(database, "leaf", "middle", "root", "everything"));
    }

    @ParameterizedTest
    @MethodSource("majorsFrom13")
    void aRootIsJudgedByItsLeaves(int major) {
        SharedServer.Database database = SharedServer.of(major).database(PARTITIONS);
        database.execute(
                "CREATE PUBLICATION p FOR TABLE q WITH (publish_via_partition_root = true)",
                "INSERT INTO q SELECT i, 'a' FROM generate_series(1, 500) i",
                "INSERT INTO q SELECT i, 'b' FROM generate_series(1, 300) i");
        PublishedTable uncounted = published(database, "p").getFirst();
        assertEquals(-1, uncounted.estimatedRows());
        assertFalse(uncounted.hasIdentity());
        database.execute(
                "ANALYZE q_a",
                "ANALYZE q_b1",
                "ALTER TABLE q ADD PRIMARY KEY (id, r)",
                "ALTER TABLE q_a REPLICA IDENTITY FULL");
        PublishedTable counted = published(database, "p").getFirst();
        assertEquals(800, counted.estimatedRows());
        assertTrue(counted.hasIdentity());
        assertFalse(counted.hasForeignPartition());
        database.execute("ALTER TABLE q_b1 REPLICA IDENTITY NOTHING");
        assertFalse(published(database, "p").getFirst().hasIdentity());
    }

    private static List<String> kinds(SharedServer.Database database, String... publications) {
        return published(database, publications).stream()
                .map(table -> table.name() + " " + table.kind())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("majorsFrom15")
    void rowFiltersAreJoinedWithOrAndLiftedByAPublicationWithoutOne(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (id int PRIMARY KEY, st text)",
                        "CREATE PUBLICATION one FOR TABLE t WHERE (id > 5)",
                        "CREATE PUBLICATION two FOR TABLE t WHERE (id < 3) WITH (publish = 'insert')",
                        "CREATE PUBLICATION every FOR TABLES IN SCHEMA public");
        assertEquals(
                Optional.of("((id > 5))"), published(database, "one").getFirst().rowFilter());
        assertEquals(
                Optional.of("((id < 3)) OR ((id > 5))"),
                published(database, "two", "one").getFirst().rowFilter());
        assertEquals(
                Optional.empty(), published(database, "one", "every").getFirst().rowFilter());
    }

    @ParameterizedTest
    @MethodSource("majorsFrom15")
    void columnListsMustAgree(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (id int PRIMARY KEY, st text, priv text)",
                        "CREATE PUBLICATION several FOR TABLE t (st, id)",
                        "CREATE PUBLICATION same FOR TABLE t (id, st)",
                        "CREATE PUBLICATION fewer FOR TABLE t (id)",
                        "CREATE PUBLICATION explicit FOR TABLE t (id, st, priv)",
                        "CREATE PUBLICATION every FOR ALL TABLES");
        PublishedTable table = published(database, "several", "same").getFirst();
        assertEquals(List.of("id", "st"), table.columns());
        assertTrue(table.columnList());
        assertFalse(published(database, "explicit", "every").getFirst().columnList());
        PublicationUnusable different =
                assertThrows(PublicationUnusable.class, () -> published(database, "several", "fewer"));
        assertTrue(different
                .toString()
                .contains("public.t has different column lists in the publications fewer, several"));
        assertThrows(PublicationUnusable.class, () -> published(database, "several", "every"));
    }

    @ParameterizedTest
    @MethodSource("majors")
    void rowSecurityThatHidesRowsIsReported(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE open (a int)",
                        "CREATE TABLE policed (a int)",
                        "ALTER TABLE policed ENABLE ROW LEVEL SECURITY",
                        "CREATE PUBLICATION p FOR ALL TABLES");
        String role = "reader_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        try (PostgresSession session = database.open(role, SessionProfile.SOURCE_CONTROL)) {
            assertEquals(
                    List.of("open false", "policed true"),
                    new Publications(session)
                            .publishedTables(List.of("p")).stream()
                                    .map(table -> table.name().name() + " " + table.rowSecurityActive())
                                    .toList());
        }
    }

    @Test
    void aRoleThatIsNoSuperuserIsToldWhatToRun() {
        SharedServer.Database database = SharedServer.of(18).database();
        String role = "plain_" + database.name();
        database.execute(
                "CREATE ROLE " + role + " LOGIN", "GRANT CREATE ON DATABASE " + database.name() + " TO " + role);
        try (PostgresSession session = database.open(role, SessionProfile.SOURCE_CONTROL)) {
            NotPermitted refused = assertThrows(
                    NotPermitted.class, () -> new Publications(session).createForAllTables("pgapply_x", true));
            assertTrue(
                    refused.hint()
                            .endsWith("CREATE PUBLICATION \"pgapply_x\" FOR ALL TABLES"
                                    + " WITH (publish_via_partition_root = true);"),
                    refused.hint());
        }
    }

    private static List<PublishedTable> published(SharedServer.Database database, String... publications) {
        try (PostgresSession session = database.open(SessionProfile.SOURCE_CONTROL)) {
            return new Publications(session).publishedTables(List.of(publications));
        }
    }
}
