package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.UniqueKey;
import dev.pgapply.schema.postgres.PostgresCatalogReader;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Structures are read the same way from every major version.
final class CatalogReaderIT {

    static List<Integer> majors() {
        return SharedServer.majors();
    }

    static List<Integer> someMajors() {
        return SharedServer.someMajors();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void columnsComeInTableOrderWithTypesAndConstraints(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TYPE mood AS ENUM ('ok', 'sad')",
                        "CREATE DOMAIN short AS varchar(7)",
                        "CREATE TABLE t (gone int, id bigint GENERATED ALWAYS AS IDENTITY, n numeric(10,2) NOT NULL"
                                + " DEFAULT 1.5, \"Mixed Case\" mood, d short, a mood[], g regclass[], z timestamptz(3))",
                        "ALTER TABLE t DROP COLUMN gone");
        TableSchema table = read(database, "t");
        assertEquals(
                List.of("id", "n", "Mixed Case", "d", "a", "g", "z"),
                table.columns().stream().map(Column::name).toList());
        assertEquals(
                List.of(
                        "bigint",
                        "numeric(10,2)",
                        "public.mood",
                        "public.short",
                        "public.mood[]",
                        "regclass[]",
                        "timestamp(3) with time zone"),
                table.columns().stream().map(column -> column.type().sql()).toList());
        Column id = table.column("id").orElseThrow();
        assertEquals(2, id.attnum());
        assertEquals(Column.Identity.ALWAYS, id.identity());
        assertTrue(id.notNull());
        assertEquals(20, id.type().oid());
        Column number = table.column("n").orElseThrow();
        assertTrue(number.notNull());
        assertTrue(number.hasDefault());
        assertFalse(id.isGenerated());
        TypeReference mood = table.column("Mixed Case").orElseThrow().type();
        assertEquals(TypeReference.Kind.ENUM, mood.kind());
        assertEquals(new TableName("public", "mood"), mood.name());
        assertTrue(mood.userDefined());
        TypeReference domain = table.column("d").orElseThrow().type();
        assertEquals(TypeReference.Kind.DOMAIN, domain.kind());
        assertEquals(1043, domain.baseOid());
        TypeReference array = table.column("a").orElseThrow().type();
        assertEquals(TypeReference.Kind.ARRAY, array.kind());
        assertEquals(mood.oid(), array.elementOid());
        assertTrue(table.column("g").orElseThrow().type().usesObjects());
        assertFalse(table.column("z").orElseThrow().type().usesObjects());
        assertEquals(Optional.empty(), table.column("ID"));
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void equalityIsThatOfTheServer(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TYPE mood AS ENUM ('ok')",
                        "CREATE TYPE pair AS (a int, b text)",
                        "CREATE TYPE odd AS (a int, b json)",
                        "CREATE DOMAIN doc AS json",
                        "CREATE DOMAIN word AS text",
                        "CREATE TABLE yes (a int, b text, c varchar(3), d mood, e int[], f int4range, g pair, h word,"
                                + " i jsonb, j name, k xid, l oidvector, m char(3), n bytea, o pair[], p mood[], q tsvector)",
                        "CREATE TABLE no (a json, b point, c xml, d json[], e odd, f odd[], g doc, h point[])");
        Map<TableName, TableSchema> tables = readAll(database, "yes", "no");
        assertEquals(List.of(), withEquality(tables.get(new TableName("public", "yes")), false));
        assertEquals(List.of(), withEquality(tables.get(new TableName("public", "no")), true));
    }

    private static List<String> withEquality(TableSchema table, boolean wanted) {
        return table.columns().stream()
                .filter(column -> column.type().hasEquality() == wanted)
                .map(column -> column.name() + " " + column.type().sql())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void everyUniqueIndexSaysWhetherItFindsRows(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (b int, a int, c int NOT NULL, d text NOT NULL, e int, PRIMARY KEY (a, b))",
                        "CREATE UNIQUE INDEX t_chosen ON t (d, c)",
                        "CREATE UNIQUE INDEX t_nullable ON t (e)",
                        "CREATE UNIQUE INDEX t_partial ON t (c) WHERE a > 0",
                        "CREATE UNIQUE INDEX t_expression ON t (c, lower(d))",
                        "ALTER TABLE t ADD CONSTRAINT t_deferrable UNIQUE (c) DEFERRABLE INITIALLY DEFERRED",
                        "CREATE INDEX t_plain ON t (c)",
                        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_chosen");
        TableSchema table = read(database, "t");
        assertEquals(
                List.of("t_pkey", "t_chosen", "t_deferrable", "t_expression", "t_nullable", "t_partial"),
                table.keys().stream().map(UniqueKey::index).toList());
        assertEquals(
                List.of("t_pkey", "t_chosen"),
                table.keys().stream()
                        .filter(UniqueKey::identifiesRows)
                        .map(UniqueKey::index)
                        .toList());
        Map<String, UniqueKey> keys = table.keys().stream().collect(Collectors.toMap(UniqueKey::index, key -> key));
        assertEquals(List.of("a", "b"), keys.get("t_pkey").columns());
        assertTrue(keys.get("t_pkey").primary());
        assertTrue(keys.get("t_pkey").constraint());
        assertEquals("btree", keys.get("t_pkey").accessMethod());
        assertTrue(keys.get("t_deferrable").deferrable());
        assertFalse(keys.get("t_deferrable").immediate());
        assertFalse(keys.get("t_nullable").notNullColumns());
        assertTrue(keys.get("t_partial").partial());
        assertTrue(keys.get("t_expression").expression());
        assertEquals(List.of("c"), keys.get("t_expression").columns());
        assertTrue(keys.values().stream().allMatch(UniqueKey::deterministic));
        assertEquals(ReplicaIdentity.INDEX, table.replicaIdentity());
        assertEquals(
                List.of("d", "c"), table.identityKey().map(UniqueKey::columns).orElseThrow());
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void aDeferrablePrimaryKeyIsNoIdentity(int major) {
        SharedServer.Database database =
                SharedServer.of(major).database("CREATE TABLE t (a int PRIMARY KEY DEFERRABLE)");
        TableSchema table = read(database, "t");
        assertEquals(1, table.keys().size());
        assertEquals(Optional.empty(), table.identityKey());
    }

    @Test
    void newerMajorsHaveMoreKindsOfKeysAndColumns() {
        SharedServer.Database database = SharedServer.of(18)
                .database(
                        "CREATE EXTENSION btree_gist",
                        "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                        "CREATE TABLE t (id int, name text COLLATE nocase NOT NULL, span int4range, v int NOT NULL,"
                                + " stored int GENERATED ALWAYS AS (v + 1) STORED,"
                                + " virtual int GENERATED ALWAYS AS (v + 2) VIRTUAL,"
                                + " PRIMARY KEY (id, span WITHOUT OVERLAPS))",
                        "CREATE UNIQUE INDEX t_include ON t (v) INCLUDE (name)",
                        "CREATE UNIQUE INDEX t_name ON t (name)",
                        "CREATE TABLE n (v int UNIQUE NULLS NOT DISTINCT, w int)",
                        "ALTER TABLE n ADD CONSTRAINT later NOT NULL w NOT VALID",
                        "CREATE UNIQUE INDEX n_w ON n (w)");
        TableSchema table = read(database, "t");
        Map<String, UniqueKey> keys = table.keys().stream().collect(Collectors.toMap(UniqueKey::index, key -> key));
        assertEquals("gist", keys.get("t_pkey").accessMethod());
        assertEquals(List.of("v"), keys.get("t_include").columns());
        assertTrue(keys.get("t_include").deterministic());
        assertFalse(keys.get("t_name").deterministic());
        assertEquals(
                Column.Generated.STORED, table.column("stored").orElseThrow().generated());
        assertEquals(
                Column.Generated.VIRTUAL, table.column("virtual").orElseThrow().generated());
        TableSchema nulls = read(database, "n");
        assertFalse(nulls.column("w").orElseThrow().notNull());
        assertEquals(
                List.of("n_v_key: true false", "n_w: false false"),
                nulls.keys().stream()
                        .map(key -> key.index() + ": " + key.nullsNotDistinct() + " " + key.identifiesRows())
                        .toList());
    }

    @ParameterizedTest
    @MethodSource("majors")
    void kindsAndPersistenceAreToldApart(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE t (a int)",
                        "CREATE UNLOGGED TABLE u (a int)",
                        "CREATE TABLE p (a int) PARTITION BY LIST (a)",
                        "CREATE VIEW v AS SELECT 1 AS a",
                        "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a",
                        "CREATE SEQUENCE s",
                        "CREATE INDEX i ON t (a)",
                        "CREATE TABLE \"T\" (b int)",
                        "CREATE TABLE empty ()");
        List<String> kinds = new ArrayList<>();
        Map<TableName, TableSchema> tables =
                readAll(database, "u", "t", "p", "v", "m", "s", "i", "T", "missing", "empty");
        tables.forEach((name, table) -> kinds.add(name.name() + " " + table.kind() + " " + table.persistence() + " "
                + table.columns().size()));
        assertEquals(
                List.of(
                        "u TABLE UNLOGGED 1",
                        "t TABLE PERMANENT 1",
                        "p PARTITIONED PERMANENT 1",
                        "v VIEW PERMANENT 1",
                        "m MATERIALIZED_VIEW PERMANENT 1",
                        "s SEQUENCE PERMANENT 3",
                        "i OTHER PERMANENT 1",
                        "T TABLE PERMANENT 1",
                        "empty TABLE PERMANENT 0"),
                kinds);
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void whatFiresInReplicaRoleIsSeenThroughPartitions(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                        "CREATE TABLE quiet (a int)",
                        "CREATE TRIGGER ordinary BEFORE INSERT ON quiet FOR EACH ROW EXECUTE PROCEDURE f()",
                        "CREATE RULE ordinary AS ON UPDATE TO quiet DO INSTEAD NOTHING",
                        "CREATE TABLE p (a int) PARTITION BY LIST (a)",
                        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY LIST (a)",
                        "CREATE TABLE p11 PARTITION OF p1 FOR VALUES IN (1)",
                        "CREATE TRIGGER always BEFORE INSERT ON p11 FOR EACH ROW EXECUTE PROCEDURE f()",
                        "ALTER TABLE p11 ENABLE ALWAYS TRIGGER always",
                        "CREATE TABLE ruled (a int, EXCLUDE USING gist (int4range(a, a, '[]') WITH &&))",
                        "CREATE RULE always AS ON UPDATE TO ruled DO INSTEAD NOTHING",
                        "ALTER TABLE ruled ENABLE REPLICA RULE always",
                        "CREATE VIEW v AS SELECT a FROM quiet");
        List<String> seen = new ArrayList<>();
        readAll(database, "quiet", "p", "p1", "p11", "ruled", "v")
                .forEach((name, table) -> seen.add(name.name()
                        + (table.firesTriggers() ? " triggers" : "")
                        + (table.firesRules() ? " rules" : "")
                        + (table.hasExclusionConstraint() ? " exclusion" : "")));
        assertEquals(List.of("quiet", "p triggers", "p1 triggers", "p11 triggers", "ruled rules exclusion", "v"), seen);
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void aForeignPartitionIsSeenFromItsRoot(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE EXTENSION postgres_fdw",
                        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw",
                        "CREATE TABLE p (a int) PARTITION BY LIST (a)",
                        "CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES IN (1) SERVER elsewhere");
        assertTrue(read(database, "p").hasForeignPartition());
        assertEquals(TableSchema.Kind.FOREIGN, read(database, "p1").kind());
        assertFalse(read(database, "p1").hasForeignPartition());
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void rowSecurityIsJudgedForTheRoleThatAsks(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE TABLE open (a int)",
                        "CREATE TABLE policed (a int)",
                        "ALTER TABLE policed ENABLE ROW LEVEL SECURITY",
                        "CREATE TABLE forced (a int)",
                        "ALTER TABLE forced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY");
        String role = "owner_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        for (String table : List.of("open", "policed", "forced")) {
            database.execute("ALTER TABLE " + table + " OWNER TO " + role);
        }
        assertEquals(List.of("open f f f", "policed t f f", "forced t t t"), rowSecurity(database, role));
        assertEquals(List.of("open f f f", "policed t f f", "forced t t f"), rowSecurity(database, "postgres"));
        database.execute("CREATE ROLE other_" + database.name() + " LOGIN");
        assertEquals(
                List.of("open f f f", "policed t f t", "forced t t t"),
                rowSecurity(database, "other_" + database.name()));
    }

    private static List<String> rowSecurity(SharedServer.Database database, String role) {
        try (PostgresSession session = database.open(role, SessionProfile.TARGET_CONTROL)) {
            List<String> seen = new ArrayList<>();
            new PostgresCatalogReader(session)
                    .tables(names("open", "policed", "forced"))
                    .forEach((name, table) -> seen.add(name.name()
                            + " " + (table.rowSecurity().enabled() ? "t" : "f")
                            + " " + (table.rowSecurity().forced() ? "t" : "f")
                            + " " + (table.rowSecurity().active() ? "t" : "f")));
            return seen;
        }
    }

    @Test
    void aThousandTablesAreReadAtOnce() {
        SharedServer.Database database = SharedServer.of(18)
                .database("DO $$ BEGIN FOR i IN 1..1000 LOOP"
                        + " EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, v text)', i); END LOOP; END $$");
        List<TableName> names = java.util.stream.IntStream.rangeClosed(1, 1000)
                .mapToObj(i -> new TableName("public", "t" + i))
                .toList();
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Map<TableName, TableSchema> tables = new PostgresCatalogReader(session).tables(names);
            assertEquals(names, List.copyOf(tables.keySet()));
            assertTrue(tables.values().stream()
                    .allMatch(table ->
                            table.identityKey().isPresent() && table.columns().size() == 2));
        }
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void namesAreTakenLiterally(int major) {
        SharedServer.Database database = SharedServer.of(major)
                .database(
                        "CREATE SCHEMA \"схема\"",
                        "CREATE TABLE \"схема\".\"表😀é\" (\"ключ\" int PRIMARY KEY, \"na\"\"ïve\" text, \"{,\\\" text)");
        TableName name = new TableName("схема", "表😀é");
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            TableSchema table =
                    new PostgresCatalogReader(session).tables(List.of(name)).get(name);
            assertEquals(
                    List.of("ключ", "na\"ïve", "{,\\"),
                    table.columns().stream().map(Column::name).toList());
            assertEquals(List.of("ключ"), table.identityKey().orElseThrow().columns());
        }
    }

    private static TableSchema read(SharedServer.Database database, String name) {
        return readAll(database, name).get(new TableName("public", name));
    }

    private static Map<TableName, TableSchema> readAll(SharedServer.Database database, String... names) {
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            return new PostgresCatalogReader(session).tables(names(names));
        }
    }

    private static List<TableName> names(String... names) {
        return java.util.Arrays.stream(names)
                .map(name -> new TableName("public", name))
                .toList();
    }
}
