package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.SchemaException.ConnectionFailed;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;
import org.postgresql.copy.CopyManager;

/// Sessions mean the same whatever somebody has set for the role or the database.
final class PinnedSettingsIT {

    private static final List<SessionProfile> PROFILES = List.of(
            SessionProfile.SOURCE_CONTROL,
            SessionProfile.SOURCE_COPY,
            SessionProfile.SOURCE_REPLICATION,
            SessionProfile.TARGET_CONTROL,
            SessionProfile.TARGET_APPLY,
            SessionProfile.TARGET_COPY);

    static List<Integer> majors() {
        return SharedServer.majors();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void hostileSettingsOfRoleAndDatabaseDoNotReachTheSession(int major) throws SQLException {
        SharedServer.Database database = SharedServer.of(major).database();
        String role = "hostile_" + database.name();
        database.execute("CREATE ROLE " + role + " SUPERUSER REPLICATION LOGIN");
        for (Map.Entry<String, String> setting : hostile(major).entrySet()) {
            database.execute("ALTER ROLE " + role + " SET " + setting.getKey() + " = " + setting.getValue());
        }
        database.execute("ALTER DATABASE " + database.name() + " SET search_path = pg_temp, public");
        database.execute("ALTER DATABASE " + database.name() + " SET default_transaction_isolation = serializable");
        // The shortest exact form is known from 12 on.
        String sum = major >= 12 ? "0.30000000000000004" : "0.300000000000000044";
        for (SessionProfile profile : PROFILES) {
            try (PostgresSession session = database.open(role, profile);
                    Statement statement = session.connection().createStatement()) {
                String what = profile.purpose();
                assertEquals("2024-02-29", text(statement, "DATE '2024-02-29'::text"), what);
                assertEquals("1 day -00:00:01", text(statement, "(interval '1 day -1 second')::text"), what);
                assertEquals("\\x00ff", text(statement, "'\\x00ff'::bytea::text"), what);
                assertEquals(sum, text(statement, "(0.1::float8 + 0.2)::text"), what);
                assertEquals("2024-01-01 00:00:00+00", text(statement, "'2024-01-01 00:00Z'::timestamptz::text"), what);
                assertEquals("$1.50", text(statement, "1.5::numeric::money::text"), what);
                assertEquals("0", text(statement, "current_setting('statement_timeout')"), what);
                assertEquals("0", text(statement, "current_setting('idle_in_transaction_session_timeout')"), what);
                assertEquals("off", text(statement, "current_setting('transaction_read_only')"), what);
                assertEquals("read committed", text(statement, "current_setting('transaction_isolation')"), what);
                assertEquals("", text(statement, "current_setting('search_path')"), what);
                assertEquals("off", text(statement, "current_setting('row_security')"), what);
                assertEquals("pgapply/test", text(statement, "current_setting('application_name')"), what);
                assertEquals(
                        profile.replicaRole() ? "replica" : "origin",
                        text(statement, "current_setting('session_replication_role')"),
                        what);
                if (major >= 12) {
                    assertEquals("0", text(statement, "current_setting('tcp_user_timeout')"), what);
                }
                assertEquals(
                        Integer.toString(session.serverVersion()),
                        text(statement, "current_setting('server_version_num')"),
                        what);
                assertEquals(major, session.majorVersion());
                assertEquals("UTF8", session.databaseEncoding());
            }
        }
    }

    private static Map<String, String> hostile(int major) {
        Map<String, String> settings = new LinkedHashMap<>(Map.ofEntries(
                Map.entry("datestyle", "'SQL, DMY'"),
                Map.entry("intervalstyle", "iso_8601"),
                Map.entry("bytea_output", "escape"),
                Map.entry("extra_float_digits", "-15"),
                Map.entry("timezone", "'Asia/Kathmandu'"),
                Map.entry("xmloption", "document"),
                Map.entry("array_nulls", "off"),
                Map.entry("standard_conforming_strings", "off"),
                Map.entry("quote_all_identifiers", "on"),
                Map.entry("client_encoding", "LATIN1"),
                Map.entry("row_security", "on"),
                Map.entry("default_transaction_read_only", "on"),
                Map.entry("default_transaction_deferrable", "on"),
                Map.entry("statement_timeout", "'3s'"),
                Map.entry("lock_timeout", "'1s'"),
                Map.entry("idle_in_transaction_session_timeout", "'5s'"),
                Map.entry("session_replication_role", "origin")));
        if (major >= 12) {
            settings.put("tcp_user_timeout", "'2s'");
        }
        if (major >= 14) {
            settings.put("idle_session_timeout", "'5s'");
        }
        if (major >= 17) {
            settings.put("transaction_timeout", "'10s'");
        }
        return settings;
    }

    @Test
    void applySessionsAreCheckedForALostClient() throws SQLException {
        SharedServer.Database database = SharedServer.of(18).database();
        try (PostgresSession session = database.open(SessionProfile.TARGET_APPLY.with("synchronous_commit", "off"));
                Statement statement = session.connection().createStatement()) {
            assertEquals("1s", text(statement, "current_setting('client_connection_check_interval')"));
            assertEquals("off", text(statement, "current_setting('synchronous_commit')"));
            assertEquals("error", text(statement, "current_setting('client_min_messages')"));
        }
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void replicaRoleNeedsARightThatTheHintNames(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        String role = "plain_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        SchemaException.NotPermitted refused = assertThrows(
                SchemaException.NotPermitted.class, () -> database.open(role, SessionProfile.TARGET_APPLY));
        assertEquals(Optional.of("42501"), refused.sqlState());
        if (major >= 15) {
            assertEquals("GRANT SET ON PARAMETER session_replication_role TO \"" + role + "\";", refused.hint());
            database.execute(refused.hint());
            database.open(role, SessionProfile.TARGET_APPLY).close();
        } else {
            assertTrue(refused.hint().contains("superuser"), refused.hint());
        }
        database.open(role, SessionProfile.TARGET_APPLY.withTriggersAllowed()).close();
    }

    static List<Integer> someMajors() {
        return SharedServer.someMajors();
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void replicationNeedsARightThatTheHintNames(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        String role = "noreplication_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        SchemaException.NotPermitted refused = assertThrows(
                SchemaException.NotPermitted.class, () -> database.open(role, SessionProfile.SOURCE_REPLICATION));
        assertEquals("ALTER ROLE \"" + role + "\" REPLICATION;", refused.hint());
        database.execute(refused.hint());
        database.open(role, SessionProfile.SOURCE_REPLICATION).close();
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void everyByteOfASqlAsciiDatabasePassesUnchanged(int major) throws SQLException, IOException {
        SharedServer.Database database = SharedServer.of(major)
                .database("ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'", new String[] {"CREATE TABLE t (v text)"});
        byte[] value = everyByteButThoseThatCopyEscapes();
        byte[] line = Arrays.copyOf(value, value.length + 1);
        line[value.length] = '\n';
        database.execute(
                "SELECT pg_create_logical_replication_slot('ascii', 'pgoutput')", "CREATE PUBLICATION p FOR TABLE t");
        try (PostgresSession target = database.open(SessionProfile.TARGET_COPY.withoutConversion())) {
            assertEquals(PostgresSession.SQL_ASCII, target.databaseEncoding());
            copy(target).copyIn("COPY public.t FROM STDIN", new ByteArrayInputStream(line));
        }
        for (SessionProfile profile : List.of(SessionProfile.SOURCE_COPY, SessionProfile.SOURCE_REPLICATION)) {
            try (PostgresSession source = database.open(profile.withoutConversion());
                    Statement statement = source.connection().createStatement()) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                copy(source).copyOut("COPY public.t TO STDOUT", out);
                assertArrayEquals(line, out.toByteArray(), profile.purpose());
                String text = text(statement, "v FROM public.t");
                assertArrayEquals(value, text.getBytes(StandardCharsets.ISO_8859_1), profile.purpose());
            }
        }
        try (PostgresSession source = database.open(SessionProfile.SOURCE_REPLICATION.withoutConversion())) {
            assertTrue(contains(firstInsert(source), value));
        }
        database.execute("SELECT pg_drop_replication_slot('ascii')");
    }

    private static byte[] everyByteButThoseThatCopyEscapes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int value = 1; value < 256; value++) {
            if ((value < 8 || value > 13) && value != '\\') {
                bytes.write(value);
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] firstInsert(PostgresSession source) throws SQLException {
        CopyDual stream = copy(source)
                .copyDual("START_REPLICATION SLOT \"ascii\" LOGICAL 0/0"
                        + " (\"proto_version\" '1', \"publication_names\" '\"p\"')");
        byte[] message;
        do {
            message = stream.readFromCopy(true);
        } while (message[0] != 'w' || message[25] != 'I');
        stream.endCopy();
        return message;
    }

    private static boolean contains(byte[] message, byte[] value) {
        return new String(message, StandardCharsets.ISO_8859_1)
                .contains(new String(value, StandardCharsets.ISO_8859_1));
    }

    @Test
    void withoutConversionALatinDatabaseSpeaksItsOwnEncoding() throws SQLException {
        SharedServer.Database database =
                SharedServer.of(18).database("ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'", new String[] {});
        try (PostgresSession session = database.open(SessionProfile.SOURCE_COPY.withoutConversion());
                Statement statement = session.connection().createStatement()) {
            assertEquals("LATIN1", text(statement, "current_setting('client_encoding')"));
            assertEquals("é", text(statement, "chr(233)"));
        }
        try (PostgresSession session = database.open(SessionProfile.SOURCE_COPY)) {
            assertEquals("LATIN1", session.databaseEncoding());
        }
    }

    @Test
    void failuresToConnectSayWhoMustActAndNoSecret() {
        SharedServer.Database database = SharedServer.of(18).database();
        PostgresEndpoint there = database.endpoint("nobody");
        PostgresEndpoint noServer = new PostgresEndpoint(
                List.of(new PostgresEndpoint.Host("127.0.0.1", 1)), "d", "u", () -> Optional.of("s3cret"), Map.of());
        PostgresEndpoint noDatabase =
                new PostgresEndpoint(there.hosts(), "no/such db?", "postgres", () -> Optional.of("s3cret"), Map.of());
        assertFailure(ConnectionFailed.Kind.REFUSED, there);
        assertFailure(ConnectionFailed.Kind.UNREACHABLE, noServer);
        ConnectionFailed failed = assertFailure(ConnectionFailed.Kind.REFUSED, noDatabase);
        assertTrue(failed.toString().contains("no/such db?"), failed.toString());
    }

    private static ConnectionFailed assertFailure(ConnectionFailed.Kind kind, PostgresEndpoint endpoint) {
        SchemaException failure = assertThrows(
                SchemaException.class,
                () -> new PostgresConnector(endpoint, "pgapply/test").open(SessionProfile.SOURCE_CONTROL));
        ConnectionFailed failed = assertInstanceOf(ConnectionFailed.class, failure);
        assertEquals(kind, failed.kind());
        assertFalse(failed.toString().contains("s3cret"), failed.toString());
        return failed;
    }

    @Test
    void namesOfDatabasesNeedNoEscaping() throws SQLException {
        SharedServer.of(18).database().execute("CREATE DATABASE \"a b/c?d=e&f%20\"");
        SharedServer.Database odd =
                new SharedServer.Database(SharedServer.of(18).database().server(), "a b/c?d=e&f%20");
        try (PostgresSession session = odd.open(SessionProfile.SOURCE_REPLICATION);
                Statement statement = session.connection().createStatement()) {
            assertEquals("a b/c?d=e&f%20", text(statement, "current_database()"));
        }
    }

    @Test
    void aDataSourceGivesPinnedConnections() throws SQLException {
        SharedServer.Database database = SharedServer.of(18).database();
        try (var connection = database.connector("postgres")
                        .dataSource(SessionProfile.TARGET_APPLY)
                        .getConnection();
                Statement statement = connection.createStatement()) {
            assertEquals("replica", text(statement, "current_setting('session_replication_role')"));
        }
    }

    private static CopyManager copy(PostgresSession session) throws SQLException {
        return session.connection().unwrap(PGConnection.class).getCopyAPI();
    }

    private static String text(Statement statement, String expression) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT " + expression)) {
            row.next();
            return row.getString(1);
        }
    }
}
