package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.ServerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The embedded servers themselves, before anything is replicated with them.
class ServersIT {

    static List<Integer> majors() {
        return PostgresServer.majors(PostgresServer.jars());
    }

    @ParameterizedTest
    @MethodSource("majors")
    void aKilledServerKeepsWhatWasCommitted(int major) throws SQLException {
        try (PostgresServer server = PostgresServer.major(major).start()) {
            assertEquals(major, server.version() / 10_000);
            assertEquals(Optional.of("logical"), server.query("postgres", "SHOW wal_level"));
            server.execute("postgres", "CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)");
            try (Connection open = server.connect("postgres");
                    Statement statement = open.createStatement()) {
                open.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (2)");
                server.kill();
            } catch (SQLException e) {
                assertFalse(server.isRunning(), "closing a connection to a dead server may fail");
            }
            assertFalse(server.isRunning());
            int port = server.port();
            server.startAgain();
            assertEquals(port, server.port());
            assertEquals(Optional.of("1"), server.query("postgres", "SELECT string_agg(id::text, ',') FROM t"));
            server.restart();
            assertEquals(Optional.of("1"), server.query("postgres", "SELECT count(*) FROM t"));
        }
    }

    @Test
    void closeLeavesNothingBehind() {
        PostgresServer server = PostgresServer.major(18).start();
        Path folder = server.folder();
        assertTrue(Files.exists(folder));
        server.close();
        server.close();
        assertFalse(Files.exists(folder));
        Assertions.assertThrows(ServerException.class, () -> server.connect("postgres"));
    }

    @Test
    void twoServersAreDifferentSystems() {
        try (PostgresServer one = PostgresServer.major(18).start();
                PostgresServer other = PostgresServer.major(18).start()) {
            String sql = "SELECT system_identifier FROM pg_control_system()";
            Assertions.assertNotEquals(one.query("postgres", sql), other.query("postgres", sql));
        }
    }

    @ParameterizedTest
    @MethodSource("passwordMethods")
    void passwordsAreAskedFor(Case passwords) throws SQLException {
        try (PostgresServer server = PostgresServer.major(passwords.major())
                .authentication(passwords.method(), "it's \\ secret")
                .start()) {
            assertEquals(Optional.of("1"), server.query("postgres", "SELECT 1"));
            SQLException refused = Assertions.assertThrows(
                    SQLException.class,
                    () -> java.sql.DriverManager.getConnection(server.jdbcUrl("postgres"), "postgres", "wrong")
                            .close());
            assertEquals("28P01", refused.getSQLState());
        }
    }

    record Case(int major, String method) {}

    static List<Case> passwordMethods() {
        return List.of(new Case(18, "scram-sha-256"), new Case(10, "md5"));
    }

    @Test
    void aSettingChangesByReloadOrRestart() {
        try (PostgresServer server =
                PostgresServer.major(18).setting("application_name", "it's").start()) {
            assertEquals(
                    Optional.of("it's"),
                    server.query("postgres", "SELECT reset_val FROM pg_settings WHERE name = 'application_name'"));
            server.set("wal_sender_timeout", "7s");
            server.reload();
            assertEquals(Optional.of("7s"), server.query("postgres", "SHOW wal_sender_timeout"));
            server.set("max_replication_slots", "3");
            server.restart();
            assertEquals(Optional.of("3"), server.query("postgres", "SHOW max_replication_slots"));
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void tlsIsThereWhenAskedFor(int major) throws SQLException {
        try (PostgresServer server = PostgresServer.major(major).ssl().start();
                Connection connection = java.sql.DriverManager.getConnection(
                        server.jdbcUrl("postgres") + "?sslmode=require", "postgres", "");
                Statement statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")) {
            assertTrue(rows.next());
            assertTrue(rows.getBoolean(1));
        }
    }
}
