package dev.pgapply.it;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 002_types: values of all kinds of types arrive as they were sent, and rows are found by them.
final class Types002IT {

    /// One family of types.
    ///
    /// @param ids what the case shows
    /// @param builtIn PostgreSQL brings the types along, so that their values travel in binary form
    /// @param structure on both sides
    /// @param rows there before the copy
    /// @param changes applied afterwards
    private record Case(
            String ids,
            boolean builtIn,
            List<String> tables,
            List<String> structure,
            List<String> rows,
            List<String> changes) {

        @Override
        public String toString() {
            return String.join(", ", tables) + " (" + ids + ")";
        }
    }

    private static final List<Case> CASES = List.of(
            new Case(
                    "002_types: #34",
                    true,
                    List.of("one_array"),
                    List.of("CREATE TABLE one_array (a int PRIMARY KEY, b int[])"),
                    List.of("INSERT INTO one_array VALUES (1, '{1,2,3}'), (2, '{2,3,1}'), (3, '{3,NULL,1}')"),
                    List.of(
                            "INSERT INTO one_array VALUES (4, '{4,3,2,1}'), (5, '{5,NULL,3}'), (6, '{}'), (7, '[3:4]={1,2}'),"
                                    + " (8, '{{1,2},{3,NULL}}')",
                            "UPDATE one_array SET b = '{4,5,6,NULL}' WHERE a = 1",
                            "UPDATE one_array SET b = NULL WHERE a = 3",
                            "DELETE FROM one_array WHERE a IN (2, 4)")),
            new Case(
                    "002_types: #35",
                    true,
                    List.of("array_key"),
                    List.of("CREATE TABLE array_key (a int[] PRIMARY KEY, b text[], c float[], d interval[])"),
                    List.of(
                            "INSERT INTO array_key VALUES ('{1,2,3}', '{a,b,c}', '{1.1,2.2,3.3}', '{1 day,2 days,3 days}'),"
                                    + " ('{2,3,1}', '{b,c,a}', '{2.2,3.3,1.1}', '{2 minutes,3 minutes,1 minute}')"),
                    List.of(
                            "INSERT INTO array_key VALUES ('{3,1,2}', '{c,a,b}', '{3.3,NaN,-Infinity}', '{3 years,1 year,2"
                                    + " years}'), ('{4,1,2}', '{\"d,\\\"\",NULL,\"NULL\",\"\"}', '{4.4,1e-300,-0}',"
                                    + " '{4 years,-1 year 25:00:00,2 years 3 mons}'), ('{5,NULL,NULL}', '{e,NULL,b}',"
                                    + " '{5.5,1.1,NULL}', '{5 years,NULL,NULL}')",
                            "UPDATE array_key SET b = '{1a,2b,3c}', c = '{1.0,2.0,3.0}', d = '{1 day 1 second,2 days 2"
                                    + " seconds,3 days 3 second}' WHERE a = '{1,2,3}'",
                            "UPDATE array_key SET b = '{2a,2b,1c}', c = '{3.0,2.0,3.0}' WHERE a[1] > 3",
                            "UPDATE array_key SET a = a || 9 WHERE a[1] = 5",
                            "DELETE FROM array_key WHERE a[1] = 2")),
            new Case(
                    "002_types: #36",
                    false,
                    List.of("one_enum"),
                    List.of(
                            "CREATE TYPE letter AS ENUM ('a', 'b', 'c', 'd', 'e', NULL)".replace(", NULL", ""),
                            "CREATE TABLE one_enum (a int PRIMARY KEY, b letter)"),
                    List.of("INSERT INTO one_enum VALUES (1, 'a'), (2, 'b')"),
                    List.of(
                            "INSERT INTO one_enum VALUES (3, 'c'), (4, 'd'), (5, NULL)",
                            "UPDATE one_enum SET b = NULL WHERE a = 1",
                            "UPDATE one_enum SET b = 'e' WHERE a = 5",
                            "DELETE FROM one_enum WHERE a = 2")),
            new Case(
                    "002_types: #37",
                    false,
                    List.of("enum_key"),
                    List.of(
                            "CREATE TYPE size AS ENUM ('a', 'b', 'c', 'd', 'e')",
                            "CREATE TABLE enum_key (a size PRIMARY KEY, b size[])"),
                    List.of("INSERT INTO enum_key VALUES ('a', '{b,c}'), ('b', '{c,a}')"),
                    List.of(
                            "INSERT INTO enum_key VALUES ('c', '{b,a}'), ('d', '{c,b}'), ('e', '{d,NULL}')",
                            "UPDATE enum_key SET b = '{e,d}' WHERE a = 'a'",
                            "UPDATE enum_key SET b = '{e,a}' WHERE a > 'c'",
                            "DELETE FROM enum_key WHERE b[1] = 'c'",
                            "UPDATE enum_key SET a = 'b' WHERE a = 'a'")),
            new Case(
                    "002_types: #38",
                    false,
                    List.of("one_composite"),
                    List.of(
                            "CREATE TYPE basic AS (a float, b text, c int)",
                            "CREATE TABLE one_composite (a int PRIMARY KEY, b basic)"),
                    List.of("INSERT INTO one_composite VALUES (1, ROW(1.0, 'a', 1)), (2, ROW(2.0, 'b', 2))"),
                    List.of(
                            "INSERT INTO one_composite VALUES (3, ROW(3.0, 'c, \"and\" (more)', 3)), (4, ROW(4.0, '', 4)),"
                                    + " (5, ROW(NULL, NULL, 5)), (6, NULL)",
                            "UPDATE one_composite SET b = ROW(NULL, NULL, NULL) WHERE a = 1",
                            "UPDATE one_composite SET b.b = 'x' WHERE a = 6",
                            "DELETE FROM one_composite WHERE (b).a = 2.0")),
            new Case(
                    "002_types: #39",
                    false,
                    List.of("composite_key"),
                    List.of(
                            "CREATE TYPE pair AS (a float, b text, c int)",
                            "CREATE TABLE composite_key (a pair PRIMARY KEY, b pair[])"),
                    List.of("INSERT INTO composite_key VALUES (ROW(1.0, 'a', 1), ARRAY[ROW(1, 'a', 1)::pair]),"
                            + " (ROW(2.0, 'b', 2), ARRAY[ROW(2, 'b', 2)::pair])"),
                    List.of(
                            "INSERT INTO composite_key VALUES (ROW(3.0, 'c', 3), ARRAY[ROW(3, 'c', 3)::pair]),"
                                    + " (ROW(4.0, 'd', 3), ARRAY[ROW(3, 'd', 3)::pair]), (ROW(5.0, 'e', NULL), ARRAY[NULL,"
                                    + " ROW(5, NULL, 5)::pair])",
                            "UPDATE composite_key SET b = ARRAY[ROW(9, 'x', -1)::pair, NULL] WHERE (a).a = 1.0",
                            "UPDATE composite_key SET a.b = 'other' WHERE (a).a = 4.0",
                            "DELETE FROM composite_key WHERE ROW(2, 'b', 2)::pair = ANY (b)")),
            new Case(
                    "002_types: #40",
                    false,
                    List.of("composite_of_enums", "composite_of_enums_key"),
                    List.of(
                            "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
                            "CREATE TYPE feeling AS (a float, b mood, c mood[])",
                            "CREATE TABLE composite_of_enums (a int PRIMARY KEY, b feeling)",
                            "CREATE TABLE composite_of_enums_key (a feeling PRIMARY KEY, b feeling[])"),
                    List.of(
                            "INSERT INTO composite_of_enums VALUES (1, ROW(1, 'sad', '{ok}')), (2, ROW(2, 'ok', NULL))",
                            "INSERT INTO composite_of_enums_key VALUES (ROW(1, 'sad', '{ok}'), NULL)"),
                    List.of(
                            "INSERT INTO composite_of_enums VALUES (3, ROW(3, 'happy', '{happy,NULL}')), (4, NULL)",
                            "UPDATE composite_of_enums SET b.b = 'happy' WHERE a = 1",
                            "DELETE FROM composite_of_enums WHERE (b).b = 'ok'",
                            "INSERT INTO composite_of_enums_key VALUES (ROW(2, 'ok', '{}'), ARRAY[ROW(1, 'ok',"
                                    + " '{sad,ok}')::feeling, NULL]), (ROW(3, 'ok', '{sad}'), '{}')",
                            "UPDATE composite_of_enums_key SET b = ARRAY[a] WHERE (a).a = 1",
                            "DELETE FROM composite_of_enums_key WHERE (a).a = 2")),
            new Case(
                    "002_types: #41",
                    false,
                    List.of("nested"),
                    List.of(
                            "CREATE TYPE inner_row AS (a text, b int[])",
                            "CREATE TYPE outer_row AS (a inner_row, b inner_row[], c hstore)",
                            "CREATE TABLE nested (a outer_row PRIMARY KEY, b outer_row[])"),
                    List.of("INSERT INTO nested VALUES (ROW(ROW('a', '{1}'), NULL, NULL), NULL)"),
                    List.of(
                            "INSERT INTO nested SELECT o, ARRAY[o, o] FROM (SELECT ROW(ROW(E'q\"u\\\\o''te', '{2,NULL}'),"
                                    + " ARRAY[ROW(',{}', '{}')::inner_row, NULL], 'k=>\"v w\"'::hstore)::outer_row AS o) AS x",
                            "INSERT INTO nested VALUES (ROW(ROW('c', '{3}'), '{}', ''), '{}')",
                            "UPDATE nested SET b[2] = NULL WHERE (a).c IS NOT NULL",
                            "DELETE FROM nested WHERE ((a).a).a = 'a'")),
            new Case(
                    "002_types: #42",
                    true,
                    List.of("one_range"),
                    List.of("CREATE TABLE one_range (a int PRIMARY KEY, b int4range)"),
                    List.of("INSERT INTO one_range VALUES (1, '[1,10]'), (2, '[2,20]')"),
                    List.of(
                            "INSERT INTO one_range VALUES (3, '[3,30]'), (4, '(4,)'), (5, 'empty'), (6, NULL)",
                            "UPDATE one_range SET b = '[100,1000]' WHERE a = 1",
                            "DELETE FROM one_range WHERE b && '[15,16]'")),
            new Case(
                    "002_types: #43",
                    true,
                    List.of("range_key"),
                    List.of("CREATE TABLE range_key (a tstzrange PRIMARY KEY, b int8range, c int8range[])"),
                    List.of(
                            "INSERT INTO range_key VALUES ('[2014-08-04 00:00:00+02,infinity)', '[1,3)', '{\"[1,2)\"}'),"
                                    + " ('[2014-08-03 00:00:00+02,2014-08-05 12:13:14.567891+02)', '[2,4)', NULL)"),
                    List.of(
                            "INSERT INTO range_key VALUES ('[-infinity,2014-08-02 00:00:00+02]', '[3,4)',"
                                    + " '{\"[3,4)\",NULL,\"[9,)\"}'), ('(,2014-01-01 00:00:00+02)', '(,)', '{}')",
                            "UPDATE range_key SET c = '{\"[100, 1000]\"}' WHERE b @> 3::bigint",
                            "DELETE FROM range_key WHERE a @> '2014-08-04 12:00:00+02'::timestamptz AND b = '[2,4)'")),
            new Case(
                    "002_types: #44",
                    false,
                    List.of("one_hstore", "hstore_rows"),
                    List.of(
                            "CREATE TABLE one_hstore (a int PRIMARY KEY, b hstore)",
                            "CREATE TABLE hstore_rows (a hstore, b int)",
                            "ALTER TABLE hstore_rows REPLICA IDENTITY FULL"),
                    List.of(
                            "INSERT INTO one_hstore VALUES (1, '\"a\"=>\"1\"'), (2, '\"zzz\"=>\"foo\"')",
                            "INSERT INTO hstore_rows VALUES ('a=>1', 1), ('a=>1', 1), (NULL, 2)"),
                    List.of(
                            "INSERT INTO one_hstore VALUES (3, '\"123\"=>\"321\"'), (4, '\"yellow horse\"=>\"moaned\"'), (5,"
                                    + " 'x=>NULL'), (6, '')",
                            "UPDATE one_hstore SET b = '\"also\"=>\"updated\"' WHERE a = 3",
                            "DELETE FROM one_hstore WHERE a = 1",
                            "UPDATE hstore_rows SET b = 3 WHERE a IS NULL",
                            "UPDATE hstore_rows SET a = a || 'b=>2' WHERE a ? 'a'",
                            "DELETE FROM hstore_rows WHERE ctid = (SELECT min(ctid) FROM hstore_rows WHERE a ? 'b')")),
            new Case(
                    "002_types: #45",
                    false,
                    List.of("checked", "limits"),
                    List.of(
                            "CREATE TABLE limits (top int PRIMARY KEY)",
                            "INSERT INTO limits VALUES (10), (20)",
                            "CREATE FUNCTION highest() RETURNS int LANGUAGE sql AS 'SELECT max(top) FROM public.limits'",
                            "CREATE DOMAIN limited AS int CHECK (VALUE <= public.highest())",
                            "CREATE TABLE checked (a int PRIMARY KEY, b limited, c limited[])"),
                    List.of("INSERT INTO checked VALUES (1, 9, '{9}')"),
                    List.of(
                            "INSERT INTO checked VALUES (10, 10, '{10,11}'), (11, 11, NULL)",
                            "UPDATE checked SET b = 20 WHERE a = 1")));

    private static Replication anyTypes;
    private static Replication builtInTypes;
    private static EngineRun anyRun;
    private static EngineRun builtInRun;

    @BeforeAll
    static void start() {
        anyTypes = Replication.newest()
                .with(setup -> setup.targetRows = dev.pgapply.apply.Subscription.TargetRows.TRUNCATE);
        builtInTypes = Replication.newest();
        anyTypes.both("CREATE EXTENSION hstore");
        for (Case family : CASES) {
            create(anyTypes, family);
            if (family.builtIn()) {
                create(builtInTypes, family);
            }
        }
        anyRun = anyTypes.engine();
        builtInRun = builtInTypes.engine();
        anyTypes.awaitSeen();
        builtInTypes.awaitSeen();
    }

    private static void create(Replication replication, Case family) {
        replication.both(family.structure().toArray(String[]::new));
        replication.source().execute(family.rows().toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        try {
            anyRun.close();
            builtInRun.close();
        } finally {
            anyTypes.close();
            builtInTypes.close();
        }
    }

    static Stream<Case> all() {
        return CASES.stream();
    }

    static Stream<Case> builtIn() {
        return CASES.stream().filter(Case::builtIn);
    }

    /// 002_types: #34 to #45, in a database whose types make the stream one of text.
    @ParameterizedTest
    @MethodSource("all")
    void valuesArriveAndFindTheirRows(Case family) {
        assertFollowed(anyTypes, anyRun, family);
    }

    /// 002_types: #34, #35, #42, #43, where nothing keeps the stream from being binary.
    @ParameterizedTest
    @MethodSource("builtIn")
    void valuesArriveInBinaryForm(Case family) {
        assertFollowed(builtInTypes, builtInRun, family);
    }

    private static void assertFollowed(Replication replication, EngineRun run, Case family) {
        String[] tables = family.tables().toArray(String[]::new);
        replication.assertIdentical(tables);
        replication.source().execute(family.changes().toArray(String[]::new));
        replication.awaitSeen();
        replication.assertIdentical(tables);
        run.assertRunning();
    }
}
