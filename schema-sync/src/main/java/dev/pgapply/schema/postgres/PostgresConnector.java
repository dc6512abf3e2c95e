package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException.ConnectionFailed;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.ServerUnsuitable;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;

/// Opens connections to one endpoint, each with pinned and verified settings (see [SessionProfile]).
///
/// Safe for calls from several threads. The password is asked for at each connect; it appears in no URL and in
/// no message. The driver itself logs nothing.
public final class PostgresConnector {

    /// The oldest server that has logical replication built in.
    public static final int OLDEST_MAJOR_VERSION = 10;

    private static final String LOGIN_SECONDS = "30";

    private static final String CONNECTION_CHECK = "client_connection_check_interval";
    private static final String REPLICA_ROLE = "session_replication_role";

    // A logger that nobody holds is collected, and its level is lost.
    private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

    static {
        DRIVER_LOG.setLevel(Level.OFF);
    }

    private final PostgresEndpoint endpoint;
    private final String applicationName;
    private final Map<String, String> driverProperties;

    /// Nothing is opened yet.
    ///
    /// @param applicationName what `pg_stat_activity` shows
    /// @param driverProperties further pgjdbc properties (`socketFactory`, `sslfactory`); they beat the
    ///     endpoint's
    public PostgresConnector(PostgresEndpoint endpoint, String applicationName, Map<String, String> driverProperties) {
        this.endpoint = endpoint;
        this.applicationName = applicationName;
        this.driverProperties = Map.copyOf(driverProperties);
    }

    public PostgresConnector(PostgresEndpoint endpoint, String applicationName) {
        this(endpoint, applicationName, Map.of());
    }

    public PostgresEndpoint endpoint() {
        return endpoint;
    }

    public String applicationName() {
        return applicationName;
    }

    /// Connects and pins the session. Blocks until the server has answered, at most for the driver's
    /// `connectTimeout` and `loginTimeout`; every answer of the pinning may take as long as the login.
    ///
    /// @throws ConnectionFailed if there is no connection
    /// @throws NotPermitted if the role may not replicate, or may not set `session_replication_role`
    /// @throws ServerUnsuitable if the server is too old or a setting does not hold
    public PostgresSession open(SessionProfile profile) {
        Connection connection = connect(profile);
        try {
            int timeout = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, loginMillis(profile));
            PostgresSession session = pin(connection, profile);
            connection.setNetworkTimeout(Runnable::run, timeout);
            return session;
        } catch (SQLException e) {
            throw closing(connection, SqlFailure.during("preparing a session", e));
        } catch (RuntimeException e) {
            throw closing(connection, e);
        }
    }

    /// Zero for no limit, as the driver takes it.
    private int loginMillis(SessionProfile profile) {
        String name = PGProperty.LOGIN_TIMEOUT.getName();
        String given = endpoint.parameters().getOrDefault(name, LOGIN_SECONDS);
        String seconds = profile.driverProperties().getOrDefault(name, driverProperties.getOrDefault(name, given));
        try {
            return (int) (Float.parseFloat(seconds) * 1_000);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /// A view for pools and migrations: every connection it gives was opened by [#open].
    public DataSource dataSource(SessionProfile profile) {
        return new PinnedDataSource(this, profile);
    }

    private Connection connect(SessionProfile profile) {
        try {
            @Nullable Connection connection = new Driver().connect(url(), properties(profile));
            if (connection == null) {
                throw new IllegalStateException("the driver refuses its own URL");
            }
            return connection;
        } catch (SQLException e) {
            throw SqlFailure.connecting(endpoint, profile.replication(), e);
        }
    }

    private Properties properties(SessionProfile profile) {
        Map<String, String> merged = new LinkedHashMap<>();
        merged.put(PGProperty.LOGIN_TIMEOUT.getName(), LOGIN_SECONDS);
        merged.put(PGProperty.TCP_KEEP_ALIVE.getName(), "true");
        merged.putAll(endpoint.parameters());
        merged.putAll(driverProperties);
        merged.putAll(profile.driverProperties());
        merged.put(PGProperty.USER.getName(), endpoint.user());
        endpoint.password().get().ifPresent(password -> merged.put(PGProperty.PASSWORD.getName(), password));
        merged.put(PGProperty.APPLICATION_NAME.getName(), applicationName);
        merged.put(PGProperty.ASSUME_MIN_SERVER_VERSION.getName(), Integer.toString(OLDEST_MAJOR_VERSION));
        merged.put(PGProperty.ALLOW_ENCODING_CHANGES.getName(), "true");
        // Details of server errors may hold values of rows.
        merged.put(PGProperty.LOG_SERVER_ERROR_DETAIL.getName(), "false");
        if (profile.replication()) {
            merged.put(PGProperty.REPLICATION.getName(), "database");
            merged.put(PGProperty.PREFER_QUERY_MODE.getName(), "simple");
        }
        Properties properties = new Properties();
        properties.putAll(merged);
        return properties;
    }

    // Hosts and database only. The driver has no Unix sockets: a socket factory of the caller's connects there,
    // whatever the address says.
    private String url() {
        return endpoint.hosts().stream()
                .map(host -> host.name().startsWith("/") ? "localhost:" + host.port() : host.toString())
                .collect(Collectors.joining(
                        ",",
                        "jdbc:postgresql://",
                        "/" + URLEncoder.encode(endpoint.database(), StandardCharsets.UTF_8)));
    }

    private PostgresSession pin(Connection connection, SessionProfile profile) throws SQLException {
        DatabaseMetaData server = connection.getMetaData();
        int major = server.getDatabaseMajorVersion();
        if (major < OLDEST_MAJOR_VERSION) {
            throw new ServerUnsuitable(
                    endpoint + " runs PostgreSQL " + server.getDatabaseProductVersion(),
                    "Logical replication needs PostgreSQL " + OLDEST_MAJOR_VERSION + " or newer.");
        }
        @Nullable String encoding = connection.unwrap(PGConnection.class).getParameterStatus("server_encoding");
        String databaseEncoding = encoding == null ? "UTF8" : encoding;
        Map<String, String> pinned = PinnedSettings.of(major, clientEncoding(profile, databaseEncoding));
        Map<String, String> further = new LinkedHashMap<>(profile.settings());
        @Nullable String connectionCheck = further.remove(CONNECTION_CHECK);

        Map<String, String> all = new LinkedHashMap<>(pinned);
        if (major >= 12) {
            // Shown as the system's own value where there is one.
            all.put("tcp_user_timeout", "0");
        }
        if (profile.replicaRole()) {
            pinned.put(REPLICA_ROLE, "replica");
            all.put(REPLICA_ROLE, "replica");
        }
        all.putAll(further);
        set(connection, all, major);
        if (connectionCheck != null && major >= 14) {
            setConnectionCheck(connection, connectionCheck);
        }
        pinned.keySet().removeAll(further.keySet());
        List<String> differing = PinnedSettings.differing(connection, pinned);
        if (!differing.isEmpty()) {
            throw new ServerUnsuitable(
                    "settings do not hold in a session at " + endpoint + ": " + String.join(", ", differing),
                    "Something between the client and the server changes the session's settings.");
        }
        // What the server reported while connecting costs no round trip; pre-releases have no minor version.
        return new PostgresSession(connection, major * 10_000 + server.getDatabaseMinorVersion(), databaseEncoding);
    }

    private void set(Connection connection, Map<String, String> settings, int major) throws SQLException {
        try {
            PinnedSettings.set(connection, settings);
        } catch (SQLException e) {
            String state = SqlFailure.state(e);
            if (!state.equals("42501")) {
                throw e;
            }
            if (settings.containsKey(REPLICA_ROLE) && isReplicaAlready(connection)) {
                Map<String, String> others = new LinkedHashMap<>(settings);
                others.remove(REPLICA_ROLE);
                PinnedSettings.set(connection, others);
                return;
            }
            String role = Quoting.identifier(endpoint.user());
            String hint = major >= 15
                    ? "GRANT SET ON PARAMETER " + REPLICA_ROLE + " TO " + role + ";"
                    : "Before PostgreSQL 15 only a superuser may set " + REPLICA_ROLE + ", also for the role:\n"
                            + "ALTER ROLE " + role + " SET " + REPLICA_ROLE + " = replica;";
            throw new NotPermitted(
                    "preparing a session: " + SqlFailure.primaryMessage(e),
                    settings.containsKey(REPLICA_ROLE) ? hint : "",
                    state,
                    e);
        }
    }

    // A superuser may have set it for a role that may not set it itself.
    private static boolean isReplicaAlready(Connection connection) throws SQLException {
        return PinnedSettings.differing(connection, Map.of(REPLICA_ROLE, "replica"))
                .isEmpty();
    }

    // Some platforms know the setting and refuse every value but zero.
    private static void setConnectionCheck(Connection connection, String value) throws SQLException {
        try {
            PinnedSettings.set(connection, Map.of(CONNECTION_CHECK, value));
        } catch (SQLException e) {
            if (!SqlFailure.state(e).equals("22023")) {
                throw e;
            }
        }
    }

    private static String clientEncoding(SessionProfile profile, String databaseEncoding) {
        if (!profile.unconverted()) {
            return "UTF8";
        }
        return databaseEncoding.equals(PostgresSession.SQL_ASCII) ? "LATIN1" : databaseEncoding;
    }

    private static RuntimeException closing(Connection connection, RuntimeException failure) {
        try {
            connection.close();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }
}
