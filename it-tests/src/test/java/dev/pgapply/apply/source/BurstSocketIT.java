package dev.pgapply.apply.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.pgapply.cli.embedded.PostgresServer;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;

/// Bursts bring exactly what the plain driver brings, also below TLS.
@Timeout(120)
@SuppressWarnings("NullAway.Init")
class BurstSocketIT {

    private static final int TRANSACTIONS = 20_000;
    private static final int HEADER_BYTES = 25;

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresServer.major(18).ssl().start();
        server.execute(
                "postgres",
                "CREATE TABLE t (id int8 PRIMARY KEY, v text)",
                "CREATE PUBLICATION p FOR TABLE t",
                "SELECT pg_create_logical_replication_slot('s', 'pgoutput')",
                "DO $$ BEGIN FOR i IN 1.." + TRANSACTIONS
                        + " LOOP INSERT INTO t VALUES (i, repeat('x', i % 300)); COMMIT; END LOOP; END $$");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Connection connect(boolean bursts, String sslmode) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("user", PostgresServer.SUPERUSER);
        properties.setProperty("replication", "database");
        properties.setProperty("preferQueryMode", "simple");
        properties.setProperty("assumeMinServerVersion", "10");
        properties.setProperty("sslmode", sslmode);
        if (bursts) {
            properties.putAll(BurstSocketFactory.driverProperties());
        }
        return DriverManager.getConnection(server.jdbcUrl("postgres"), properties);
    }

    private static CopyDual stream(Connection connection) throws Exception {
        return connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyDual(
                        "START_REPLICATION SLOT \"s\" LOGICAL 0/0 (\"proto_version\" '1', \"publication_names\" 'p')");
    }

    /// Hash of all changes; the header of a message holds a clock.
    private static String changes(boolean bursts, String sslmode) throws Exception {
        Connection connection = connect(bursts, sslmode);
        try {
            CopyDual stream = stream(connection);
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            int commits = 0;
            while (commits < TRANSACTIONS) {
                byte[] message = stream.readFromCopy(false);
                if (message != null && message[0] == 'w') {
                    digest.update(Arrays.copyOfRange(message, HEADER_BYTES, message.length));
                    commits += message[HEADER_BYTES] == 'C' ? 1 : 0;
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } finally {
            // An orderly end would first read what is left.
            connection.abort(Runnable::run);
        }
    }

    @Test
    void burstsBringWhatTheDriverBrings() throws Exception {
        String expected = changes(false, "disable");
        assertEquals(expected, changes(true, "disable"));
        assertEquals(expected, changes(true, "require"));
    }

    @Test
    void afterTheBacklogASingleTransactionComesAtOnce() throws Exception {
        try (Connection connection = connect(true, "prefer")) {
            CopyDual stream = stream(connection);
            int commits = 0;
            while (commits < TRANSACTIONS) {
                byte[] message = stream.readFromCopy(false);
                commits += message != null && message[0] == 'w' && message[HEADER_BYTES] == 'C' ? 1 : 0;
            }
            while (stream.readFromCopy(false) != null) {
                // Keepalives.
            }
            assertNull(stream.readFromCopy(false));
            server.execute("postgres", "INSERT INTO t VALUES (-1, 'late')", "DELETE FROM t WHERE id = -1");
            byte[] message = stream.readFromCopy(false);
            while (message == null || message[0] != 'w') {
                message = stream.readFromCopy(false);
            }
            assertNotNull(message);
            assertEquals('B', message[HEADER_BYTES]);
            connection.abort(Runnable::run);
        }
    }
}
