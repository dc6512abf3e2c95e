package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// 005_encoding: characters stay what they are between databases of different encodings, and bytes what they
/// are where nobody knows their characters.
final class Encoding005IT {

    private static Replication between(String sourceEncoding, String targetEncoding) {
        return Replication.of(
                TestServers.source(TestServers.NEWEST).database(options(sourceEncoding)),
                TestServers.target(TestServers.NEWEST).database(options(targetEncoding)));
    }

    private static String options(String encoding) {
        return "TEMPLATE template0 ENCODING '" + encoding + "' LOCALE 'C'";
    }

    /// 005_encoding: #56
    @ParameterizedTest
    @CsvSource({"UTF8, LATIN1", "LATIN1, UTF8", "LATIN1, LATIN9"})
    void charactersAreConverted(String source, String target) {
        try (Replication replication = between(source, target)) {
            replication.both("CREATE TABLE t (k text PRIMARY KEY, v text[], n name)");
            replication.source().execute("INSERT INTO t VALUES (U&'M\\00F6torhead', ARRAY[U&'\\00E9'], U&'\\00DF')");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.assertIdentical();
                replication
                        .source()
                        .execute(
                                "INSERT INTO t VALUES (U&'\\00C5ngstr\\00F6m', '{}', 'x'), ('plain', '{plain}', 'plain')",
                                "UPDATE t SET v = v || ARRAY[U&'\\00E8'] WHERE k = U&'M\\00F6torhead'",
                                "UPDATE t SET k = k || U&'\\00FF' WHERE k LIKE '%ngstr%'",
                                "DELETE FROM t WHERE k = 'plain'");
                replication.awaitSeen();
                replication.assertIdentical();
                run.assertRunning();
            }
            assertEquals(
                    target.equals("UTF8") ? "10" : "9",
                    replication
                            .target()
                            .query("SELECT octet_length(k) FROM t WHERE k LIKE 'M%'")
                            .orElseThrow());
        }
    }

    /// 005_encoding: #56, with a character that the target does not have.
    @Test
    void aCharacterThatTheTargetCannotHoldStopsTheRun() {
        try (Replication replication = between("UTF8", "LATIN1")) {
            replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
            replication.source().execute("INSERT INTO t VALUES (1, 'a')");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication
                        .source()
                        .execute("INSERT INTO t VALUES (2, U&'\\00F6')", "INSERT INTO t VALUES (3, U&'secret\\20AC')");
                ApplyException rejected = run.awaitFailure();
                assertEquals(ErrorCode.CHANGE_REJECTED, rejected.code());
                assertTrue(rejected.getMessage().contains("public.t"), rejected.getMessage());
                assertTrue(rejected.hint().contains("encoding"), rejected.hint());
                assertFalse(rejected.getMessage().contains("secret"), rejected.getMessage());
            }
            // What came before is there.
            assertEquals(List.of("1", "2"), replication.target().queryAll("SELECT a FROM t ORDER BY a"));
        }
    }

    /// 005_encoding: #56, in databases that know no characters.
    @ParameterizedTest
    @CsvSource({"SQL_ASCII, SQL_ASCII", "SQL_ASCII, LATIN1", "LATIN1, SQL_ASCII", "UTF8, SQL_ASCII", "SQL_ASCII, UTF8"})
    void bytesPassWhereEncodingsAreUnknown(String source, String target) {
        try (Replication replication = between(source, target)) {
            replication.both("CREATE TABLE t (k text PRIMARY KEY, v text)");
            String high = source.equals("UTF8") || target.equals("UTF8") ? "c3b6" : "f6ff80";
            if (source.equals("LATIN1") || target.equals("LATIN1")) {
                high = "f6ffe9";
            }
            String bytes = "convert_from(decode('" + high + "', 'hex'), '" + source + "')";
            replication.source().execute("INSERT INTO t VALUES ('copied' || " + bytes + ", " + bytes + ")");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                assertSameBytes(replication);
                replication
                        .source()
                        .execute(
                                "INSERT INTO t VALUES ('streamed' || " + bytes + ", " + bytes + "), ('gone' || " + bytes
                                        + ", NULL)",
                                "UPDATE t SET v = v || " + bytes + " WHERE k LIKE 'copied%'",
                                "UPDATE t SET k = 'x' || k WHERE k LIKE 'streamed%'",
                                "DELETE FROM t WHERE k LIKE 'gone%'");
                replication.awaitSeen();
                assertSameBytes(replication);
                assertEquals(2, replication.target().count("t"));
                run.assertRunning();
            }
        }
    }

    private static void assertSameBytes(Replication replication) {
        String sql = "SELECT encode(convert_to(k, getdatabaseencoding()), 'hex') || ' '"
                + " || encode(convert_to(v, getdatabaseencoding()), 'hex') FROM t ORDER BY k COLLATE \"C\"";
        assertEquals(replication.source().queryAll(sql), replication.target().queryAll(sql));
    }

    /// 005_encoding: #56, with bytes that are no characters of the target.
    @Test
    void bytesThatAreNoCharactersOfTheTargetStopTheRun() {
        try (Replication replication = between("SQL_ASCII", "UTF8")) {
            replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
            replication.source().execute("INSERT INTO t VALUES (1, 'a')");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.source().execute("INSERT INTO t VALUES (2, convert_from('\\xf6ff', 'SQL_ASCII'))");
                ApplyException rejected = run.awaitFailure();
                assertEquals(ErrorCode.CHANGE_REJECTED, rejected.code(), rejected.getMessage());
                assertTrue(rejected.getMessage().contains("public.t"), rejected.getMessage());
            }
        }
    }
}
