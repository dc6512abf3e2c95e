package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.TableComparison.Result;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The comparison that all scenarios end with finds what it must find.
class TableComparisonIT {

    @ParameterizedTest(name = "{0}: {1} and {2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "text | 'a' | 'a '",
                "text | NULL | ''",
                "text | 'NULL' | NULL",
                "text | 'a' | 'A'",
                "text | U&'\\00e9' | U&'e\\0301'",
                "char(3) | 'a' | NULL",
                "float8 | '-0' | '0'",
                "float8 | '0.1' | '0.10000000000000002'",
                "float4 | 'NaN' | '0'",
                "numeric | 1.0 | 1.00",
                "numeric | 'NaN' | NULL",
                "interval | '1 day' | '24 hours'",
                "interval | '1 mon' | '30 days'",
                "timetz | '12:00+00' | '13:00+01'",
                "timestamp | 'infinity' | '-infinity'",
                "bytea | '\\x00' | '\\x0000'",
                "json | '{}' | '{ }'",
                "bit varying | B'0' | B'00'",
                "text[] | '{a}'::text[] | '[2:2]={a}'",
                "text[] | '{NULL}' | '{\"NULL\"}'",
                "text[] | '{}' | '{NULL}'",
                "daterange | '[2024-01-01,infinity]' | '[2024-01-01,)'",
            })
    void aPlantedDifferenceIsFound(String type, String left, String right) {
        try (Replication pair = Replication.newest()) {
            pair.both("CREATE TABLE t (id int PRIMARY KEY, v " + type + ")");
            pair.both("INSERT INTO t SELECT g, NULL FROM generate_series(1, 50) g");
            pair.source().execute("UPDATE t SET v = " + left + " WHERE id = 7");
            pair.target().execute("UPDATE t SET v = " + left + " WHERE id = 7");
            pair.assertIdentical();
            pair.target().execute("UPDATE t SET v = " + right + " WHERE id = 7");
            Result result = Replication.compare(pair.source(), pair.target()).get(0);
            assertFalse(result.identical());
            assertEquals(1, result.onlySource());
            assertEquals(1, result.onlyTarget());
            assertEquals(50, result.sourceRows());
        }
    }

    @Test
    void rowsAreCountedAsOftenAsTheyAreThere() {
        try (Replication pair = Replication.newest()) {
            pair.both("CREATE TABLE t (v text)");
            pair.source().execute("INSERT INTO t VALUES ('a'), ('a'), ('b'), (NULL), ('')");
            pair.target().execute("INSERT INTO t VALUES (''), ('b'), ('a'), (NULL), ('b')");
            Result result =
                    Replication.compare(pair.source(), pair.target(), "t").get(0);
            assertEquals(1, result.onlySource());
            assertEquals(1, result.onlyTarget());
            pair.target().execute("DELETE FROM t WHERE v = 'b'", "INSERT INTO t VALUES ('a'), ('b')");
            pair.assertIdentical("t");
        }
    }

    @Test
    void theOrderOfColumnsDoesNotMatterAndTheirNamesDo() {
        try (Replication pair = Replication.newest()) {
            pair.source().execute("CREATE TABLE t (\"A b\" int, c text)", "INSERT INTO t VALUES (1, 'x')");
            pair.target().execute("CREATE TABLE t (more int, c text, \"A b\" int)", "INSERT INTO t VALUES (9, 'x', 1)");
            pair.assertIdentical();
            pair.target().execute("ALTER TABLE t RENAME c TO d");
            assertEquals(
                    List.of("c"),
                    Replication.compare(pair.source(), pair.target()).get(0).missingColumns());
        }
    }

    @Test
    void partitionsAreComparedThroughTheirRoot() {
        try (Replication pair = Replication.newest()) {
            pair.source()
                    .execute(
                            "CREATE TABLE p (id int, v text) PARTITION BY LIST (id)",
                            "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)",
                            "CREATE TABLE p2 PARTITION OF p DEFAULT",
                            "INSERT INTO p VALUES (1, 'a'), (2, 'b')");
            pair.target().execute("CREATE TABLE p (id int, v text)", "INSERT INTO p VALUES (2, 'b'), (1, 'a')");
            pair.assertIdentical();
            pair.target().execute("DELETE FROM p WHERE id = 2");
            assertEquals(
                    List.of("(2,b)"),
                    Replication.compare(pair.source(), pair.target()).get(0).first().stream()
                            .map(difference -> difference.row())
                            .toList());
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void anOldServerIsComparedWithTheNewest(int major) {
        try (Replication pair = Replication.between(major, TestServers.NEWEST)) {
            String[] same = {
                "CREATE TABLE t (id int PRIMARY KEY, f float8, r float4, d date, z timestamptz, b bytea, i interval, m money)",
                "INSERT INTO t SELECT g, 1 / g::float8, 1 / g::float4, '2024-02-29', '2024-02-29 12:00+02', "
                        + "decode(md5(g::text), 'hex'), '1 mon 2 days 03:04:05.6', 12.34 FROM generate_series(1, 1000) g"
            };
            pair.both(same);
            pair.assertIdentical();
            pair.target().execute("UPDATE t SET f = f + 1e-16 WHERE id = 7");
            assertFalse(Replication.compare(pair.source(), pair.target(), "t")
                    .get(0)
                    .identical());
        }
    }

    static List<Integer> majors() {
        return TestServers.majors();
    }

    @Test
    void databasesOfOtherEncodingsAreCompared() {
        String latin = "TEMPLATE template0 ENCODING 'LATIN1'";
        String ascii = "TEMPLATE template0 ENCODING 'SQL_ASCII'";
        try (TestDatabase utf8 = TestServers.source(18).database();
                TestDatabase latin1 = TestServers.target(18).database(latin);
                TestDatabase sqlAscii = TestServers.target(18).database(ascii)) {
            for (TestDatabase database : List.of(utf8, latin1, sqlAscii)) {
                database.execute("CREATE TABLE t (v text)", "INSERT INTO t VALUES ('é'), ('z'), ('ü')");
            }
            Replication.assertIdentical(utf8, latin1);
            Replication.assertIdentical(utf8, sqlAscii);
            Replication.assertIdentical(sqlAscii, utf8);
            sqlAscii.execute("INSERT INTO t VALUES (E'\\xff')");
            Result result = Replication.compare(sqlAscii, utf8).get(0);
            assertTrue(result.onlySource() == 1 && result.onlyTarget() == 0);
        }
    }
}
