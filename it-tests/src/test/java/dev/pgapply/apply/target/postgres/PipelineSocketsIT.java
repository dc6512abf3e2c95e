package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.PostgresServer;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Every way in which the driver can open the connection under a pipeline.
@Timeout(60)
@SuppressWarnings("NullAway.Init")
class PipelineSocketsIT {

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresServer.major(18)
                .ssl()
                .authentication("scram-sha-256", "secret")
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Map<String, String> parameters(String... namesAndValues) {
        Map<String, String> parameters = new HashMap<>();
        parameters.put("password", "secret");
        parameters.put("sslrootcert", server.dataFolder().resolve("server.crt").toString());
        for (int i = 0; i < namesAndValues.length; i += 2) {
            parameters.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return parameters;
    }

    private static void use(PipelineConnection target, boolean encrypted) throws SQLException {
        Pipeline pipeline = target.pipeline();
        pipeline.bind(pipeline.prepare("SELECT pg_backend_pid()"), 0);
        int query = pipeline.query(0, Pipeline.TEXT);
        pipeline.sync();
        assertEquals(String.valueOf(target.pid()), pipeline.rows(query).text(0, 0));
        assertEquals(encrypted ? "t" : "f", target.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"));
        pipeline.simple("CREATE TEMP TABLE copied (v text)");
        pipeline.copyIn("COPY copied FROM STDIN");
        byte[] data = "0123456789\n".repeat(100_000).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        pipeline.copyData(data, 0, data.length);
        int copy = pipeline.copyDone(0);
        pipeline.sync();
        assertEquals(100_000, pipeline.affected(copy));
        assertEquals("100000", target.query("SELECT count(*) FROM copied"));
    }

    @ParameterizedTest
    @CsvSource({
        "disable, false",
        "allow, false",
        "prefer, true",
        "require, true",
        "verify-ca, true",
        "verify-full, true"
    })
    void allModesOfTls(String mode, boolean encrypted) throws SQLException {
        try (PipelineConnection target = PipelineConnection.open(server, parameters("sslmode", mode))) {
            use(target, encrypted);
        }
    }

    @Test
    void preferFallsBackToPlainSockets() throws SQLException {
        try (PostgresServer plain = PostgresServer.major(10).start();
                PipelineConnection target = PipelineConnection.open(plain, parameters("sslmode", "prefer"))) {
            use(target, false);
        }
    }

    @Test
    void directTlsWithTheEndpointsOwnFactory() throws SQLException {
        Map<String, String> parameters = parameters(
                "sslmode",
                "require",
                "sslNegotiation",
                "direct",
                "sslfactory",
                "org.postgresql.ssl.SingleCertValidatingFactory",
                "sslfactoryarg",
                "file:" + server.dataFolder().resolve("server.crt"));
        try (PipelineConnection target = PipelineConnection.open(server, parameters)) {
            use(target, true);
        }
    }

    @Test
    void theFirstHostMayBeAway() throws SQLException {
        String hosts = "127.0.0.1:1,127.0.0.1:" + server.port();
        try (PipelineConnection target =
                PipelineConnection.open(hosts, parameters("loginTimeout", "20", "targetServerType", "primary"))) {
            use(target, true);
        }
    }

    /// The endpoint's own sockets; public because it is made by name.
    public static final class CountingFactory extends SocketFactory {
        static final AtomicInteger OPENED = new AtomicInteger();
        private final String argument;

        public CountingFactory(String argument) {
            this.argument = argument;
        }

        @Override
        public Socket createSocket() {
            assertEquals("own argument", argument);
            OPENED.incrementAndGet();
            return new Socket();
        }

        @Override
        public Socket createSocket(String host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(String host, int port, java.net.InetAddress localHost, int localPort) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(java.net.InetAddress host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(java.net.InetAddress host, int port, java.net.InetAddress local, int localPort) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void theEndpointsOwnSocketFactoryIsUsed() throws SQLException {
        Map<String, String> parameters =
                parameters("socketFactory", CountingFactory.class.getName(), "socketFactoryArg", "own argument");
        try (PipelineConnection target = PipelineConnection.open(server, parameters)) {
            use(target, true);
        }
        assertTrue(CountingFactory.OPENED.get() > 0);
    }

    @Test
    void aConnectionOpenedOtherwiseOrInATransactionIsRefused() throws SQLException {
        assertThrows(IllegalArgumentException.class, () -> new PipelineSockets(Map.of("gssEncMode", "require")));
        try (PipelineSockets sockets = new PipelineSockets(Map.of());
                Connection other = server.connect("postgres")) {
            assertThrows(IllegalStateException.class, () -> Pipeline.take(other, sockets));
        }
        Map<String, String> parameters = parameters("user", "postgres");
        Properties properties = new Properties();
        properties.putAll(parameters);
        try (PipelineSockets sockets = new PipelineSockets(parameters)) {
            properties.putAll(sockets.properties());
            try (Connection connection = DriverManager.getConnection(server.jdbcUrl("postgres"), properties)) {
                connection.setAutoCommit(false);
                assertThrows(IllegalStateException.class, () -> Pipeline.take(connection, sockets));
            }
        }
        SQLException error = assertThrows(
                SQLException.class, () -> DriverManager.getConnection(server.jdbcUrl("postgres"), properties));
        assertFalse(String.valueOf(error.getMessage()).contains("secret"));
    }
}
