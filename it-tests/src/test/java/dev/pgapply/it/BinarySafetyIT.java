package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.BinarySafety;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresCatalogReader;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/// What is called safe arrives in binary form exactly as it does as text, between old and new servers.
final class BinarySafetyIT {

    /// By type: values as text; a type is left out where a server does not know it.
    private static Map<String, List<String>> values() {
        Map<String, List<String>> values = new LinkedHashMap<>();
        values.put("bool", List.of("t", "f"));
        values.put("smallint", List.of("-32768", "32767"));
        values.put("integer", List.of("-2147483648", "2147483647"));
        values.put("bigint", List.of("-9223372036854775808", "9223372036854775807"));
        values.put("oid", List.of("0", "4294967295"));
        values.put("xid", List.of("4294967295"));
        values.put("xid8", List.of("18446744073709551615"));
        values.put("cid", List.of("7"));
        values.put("tid", List.of("(4294967295,65535)"));
        values.put("pg_lsn", List.of("FFFFFFFF/FFFFFFFF", "0/0"));
        values.put("real", List.of("NaN", "-Infinity", "1e-45", "3.4028235e38", "-0", "0.1"));
        values.put("double precision", List.of("NaN", "Infinity", "5e-324", "1.7976931348623157e308", "-0", "0.1"));
        values.put(
                "numeric", List.of("NaN", "0.000", "0", "7000", "1" + "0".repeat(1000), "-0." + "0".repeat(900) + "1"));
        values.put("numeric(10,2)", List.of("NaN", "-0.01", "99999999.99"));
        values.put("money", List.of("-92233720368547758.08", "92233720368547758.07", "-0.01"));
        values.put("text", List.of("", " ", "\t\n\\.", "é表😀", "x".repeat(3000)));
        values.put("varchar(7)", List.of("", "1234567"));
        values.put("char(5)", List.of("", "ab", "     "));
        values.put("name", List.of("a", "x".repeat(63)));
        values.put("\"char\"", List.of("", "a"));
        values.put("bytea", List.of("\\x", "\\x00ff5c", "\\x5c2e"));
        values.put("uuid", List.of("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"));
        values.put("json", List.of("null", " {\"a\":1, \"a\":2}", "\"\\u0000\"", "[1E400]"));
        values.put("jsonb", List.of("null", "{\"n\":12345678901234567890.123}", "[\"é\"]"));
        values.put("jsonpath", List.of("$.a[*] ? (@ > 1)"));
        values.put("date", List.of("infinity", "-infinity", "0001-01-01 BC", "1582-10-10", "5874897-12-31"));
        values.put("time(6)", List.of("24:00:00", "23:59:59.999999", "00:00:00"));
        values.put("timetz", List.of("24:00:00-15:59:59", "12:00:00+05:45"));
        values.put("timestamp", List.of("infinity", "-infinity", "4713-01-01 00:00:00 BC", "1883-11-18 12:03:57"));
        values.put("timestamptz(3)", List.of("infinity", "2024-01-01 00:00:00.123+00", "0001-01-01 00:00:00+00"));
        values.put(
                "interval",
                List.of(
                        "1 year 2 mons -3 days +04:05:06.789",
                        "-178000000 years",
                        "24:00:00",
                        "1 day",
                        "-00:00:00.000001"));
        values.put("inet", List.of("10.0.0.1/8", "::1", "0.0.0.0/0"));
        values.put("cidr", List.of("10.0.0.0/8", "::/0"));
        values.put("macaddr", List.of("08:00:2b:01:02:03"));
        values.put("macaddr8", List.of("08:00:2b:ff:fe:01:02:03"));
        values.put("bit(3)", List.of("010"));
        values.put("varbit", List.of("", "0", "00", "10".repeat(64)));
        values.put("point", List.of("(1e300,-0)", "(NaN,Infinity)"));
        values.put("path", List.of("((0,0),(1,1))", "[(0,0),(1,1)]"));
        values.put("polygon", List.of("((0,0),(1,1),(1,0))"));
        values.put("circle", List.of("<(0,0),3>"));
        values.put("box", List.of("(1,1),(0,0)"));
        values.put("line", List.of("{1,2,3}"));
        values.put("lseg", List.of("[(0,0),(1,1)]"));
        values.put("int4range", List.of("empty", "(,)", "[1,10]"));
        values.put("numrange", List.of("[,)", "(1.50,2]"));
        values.put("daterange", List.of("[2024-01-01,infinity]", "[2024-01-01,)"));
        values.put("tstzrange", List.of("[\"2024-01-01 00:00+00\",)", "(-infinity,infinity]"));
        values.put("int4multirange", List.of("{}", "{[1,3),[5,)}"));
        values.put("integer[]", List.of("{}", "{1,NULL}", "[2:3]={1,2}", "{{1,2},{3,4}}"));
        values.put("text[]", List.of("{\"a,b\",NULL,\"\",\"NULL\",\"\\\\\"}"));
        values.put("numeric[]", List.of("{NaN,1.50,NULL}"));
        values.put("bytea[]", List.of("{\"\\\\x00ff\",NULL}"));
        values.put("interval[]", List.of("{\"1 day\",24:00:00}"));
        values.put("jsonb[]", List.of("{null,\"{}\"}"));
        values.put("numrange[]", List.of("{empty,\"[,)\"}"));
        values.put("int2vector", List.of("1 2 3"));
        values.put("oidvector", List.of("1 4294967295"));
        values.put("txid_snapshot", List.of("10:20:10,14"));
        values.put("pg_snapshot", List.of("10:20:10,14"));
        // Not safe: these only show that the judgement is made.
        values.put("xml", List.of("<a/>"));
        values.put("tsvector", List.of("'a':1A 'b'"));
        values.put("tsquery", List.of("'a' & !'b':*"));
        values.put("regclass", List.of("pg_class"));
        values.put("regtype[]", List.of("{integer}"));
        return values;
    }

    private static final Set<String> UNSAFE = Set.of("xml", "tsvector", "tsquery", "regclass", "regtype[]");

    @ParameterizedTest
    @CsvSource({"10, 18", "18, 10", "15, 18", "18, 15", "18, 18"})
    void safeTypesArriveInBinaryFormAsTheyDoAsText(int sourceMajor, int targetMajor) throws SQLException, IOException {
        SharedServer.Database from = SharedServer.of(sourceMajor).database();
        SharedServer.Database to = SharedServer.of(targetMajor).database();
        try (PostgresSession source = from.open(SessionProfile.SOURCE_COPY);
                PostgresSession target = to.open(SessionProfile.TARGET_COPY)) {
            BinarySafety safety = new BinarySafety(source.serverVersion(), target.serverVersion());
            Set<String> unsafe = new TreeSet<>();
            for (Map.Entry<String, List<String>> entry : values().entrySet()) {
                String type = entry.getKey();
                if (!knows(source, type) || !knows(target, type)) {
                    continue;
                }
                fill(source, type, entry.getValue());
                execute(target, "DROP TABLE IF EXISTS public.t", "DROP TABLE IF EXISTS public.b");
                execute(target, "CREATE TABLE public.t (v " + type + ")", "CREATE TABLE public.b (v " + type + ")");
                if (!safety.isSafe(structure(source), structure(target), List.of("v"))) {
                    unsafe.add(type);
                    continue;
                }
                copy(source, target, "t", "");
                copy(source, target, "b", " WITH (FORMAT binary)");
                assertEquals(rows(target, "t"), rows(target, "b"), type);
            }
            Set<String> expected = new TreeSet<>(UNSAFE);
            if (sourceMajor >= 17 && targetMajor < 17) {
                expected.add("interval");
                expected.add("interval[]");
            }
            assertEquals(expected, unsafe);
        }
    }

    @ParameterizedTest
    @CsvSource({"10, 18", "18, 18"})
    void typesOfUsersAndWhatContainsThemAreUnsafe(int sourceMajor, int targetMajor) {
        String[] types = {
            "CREATE TYPE mood AS ENUM ('ok')",
            "CREATE DOMAIN word AS text",
            "CREATE TYPE pair AS (a int)",
            "CREATE TYPE span AS RANGE (subtype = int)",
            "CREATE EXTENSION citext",
            "CREATE TABLE t (a mood, b mood[], c word, d pair, e pair[], f span, g citext, h citext[], i int, j text[])"
        };
        SharedServer.Database from = SharedServer.of(sourceMajor).database(types);
        SharedServer.Database to = SharedServer.of(targetMajor).database(types);
        try (PostgresSession source = from.open(SessionProfile.SOURCE_CONTROL);
                PostgresSession target = to.open(SessionProfile.TARGET_CONTROL)) {
            BinarySafety safety = new BinarySafety(source.serverVersion(), target.serverVersion());
            TableSchema there = structure(source);
            TableSchema here = structure(target);
            for (String column : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
                assertFalse(safety.isSafe(there, here, List.of(column)), column);
            }
            assertTrue(safety.isSafe(there, here, List.of("i", "j")));
        }
    }

    private static boolean knows(PostgresSession session, String type) throws SQLException {
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT to_regtype('"
                        + type.replaceAll("\\([0-9,]+\\)", "").replace("'", "''") + "') IS NOT NULL")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private static void fill(PostgresSession session, String type, List<String> values) throws SQLException {
        execute(session, "DROP TABLE IF EXISTS public.t", "CREATE TABLE public.t (v " + type + ")");
        try (var insert =
                session.connection().prepareStatement("INSERT INTO public.t VALUES (?::text::" + type + ")")) {
            for (String value : values) {
                insert.setString(1, value);
                insert.executeUpdate();
            }
        }
        execute(session, "INSERT INTO public.t VALUES (NULL)");
    }

    private static TableSchema structure(PostgresSession session) {
        TableName name = new TableName("public", "t");
        return Optional.ofNullable(
                        new PostgresCatalogReader(session).tables(List.of(name)).get(name))
                .orElseThrow();
    }

    private static void copy(PostgresSession source, PostgresSession target, String to, String options)
            throws SQLException, IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        copyManager(source).copyOut("COPY public.t TO STDOUT" + options, bytes);
        copyManager(target)
                .copyIn("COPY public." + to + " FROM STDIN" + options, new ByteArrayInputStream(bytes.toByteArray()));
    }

    private static CopyManager copyManager(PostgresSession session) throws SQLException {
        return session.connection().unwrap(PGConnection.class).getCopyAPI();
    }

    private static String rows(PostgresSession session, String table) throws SQLException, IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        copyManager(session).copyOut("COPY public." + table + " TO STDOUT", text);
        return text.toString(StandardCharsets.UTF_8);
    }

    private static void execute(PostgresSession session, String... statements) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
