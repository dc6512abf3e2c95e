package dev.pgapply.schema.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/// Whether a role may use replication origins: before PostgreSQL 14 superusers only, since then whoever may
/// execute the functions.
///
/// @see <a href="https://www.postgresql.org/docs/current/replication-origins.html">Replication progress
/// tracking</a>
public final class ReplicationOrigins {

    /// The functions of `pg_catalog` that are called.
    public static final List<String> FUNCTIONS = List.of(
            "pg_replication_origin_create(text)",
            "pg_replication_origin_drop(text)",
            "pg_replication_origin_oid(text)",
            "pg_replication_origin_progress(text, boolean)",
            "pg_replication_origin_session_reset()",
            "pg_replication_origin_session_setup(text)",
            "pg_replication_origin_xact_reset()",
            "pg_replication_origin_xact_setup(pg_lsn, timestamp with time zone)");

    private ReplicationOrigins() {}

    /// Whether the connection's role may use all that is needed. Tries nothing.
    public static boolean areUsable(Connection connection) throws SQLException {
        // By name, since newer versions give some of them more arguments.
        String sql = "SELECT r.rolsuper OR (pg_catalog.current_setting('server_version_num')::int >= 140000 AND"
                + " (SELECT pg_catalog.bool_and(pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))"
                + " FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace"
                + " AND p.proname = ANY (?::name[])))"
                + " FROM pg_catalog.pg_roles r WHERE r.rolname = current_user";
        Object[] names = FUNCTIONS.stream()
                .map(function -> function.substring(0, function.indexOf('(')))
                .toArray();
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            query.setArray(1, connection.createArrayOf("text", names));
            try (ResultSet row = query.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    /// Whether there is an origin of this name. Any role may ask.
    public static boolean exists(Connection connection, String origin) throws SQLException {
        try (PreparedStatement query =
                connection.prepareStatement("SELECT FROM pg_catalog.pg_replication_origin WHERE roname = ?")) {
            query.setString(1, origin);
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }

    /// Makes the origin unless it is there. In no transaction that may be rolled back.
    public static void create(Connection connection, String origin) throws SQLException {
        call(
                connection,
                "SELECT CASE WHEN pg_catalog.pg_replication_origin_oid(?) IS NULL"
                        + " THEN pg_catalog.pg_replication_origin_create(?) END",
                origin,
                origin);
    }

    /// Takes the origin for the session: from now on its commits carry it. Only one session can have it.
    public static void setUp(Connection connection, String origin) throws SQLException {
        call(connection, "SELECT pg_catalog.pg_replication_origin_session_setup(?)", origin);
    }

    /// Gives back what [#setUp] took.
    public static void reset(Connection connection) throws SQLException {
        call(connection, "SELECT pg_catalog.pg_replication_origin_session_reset()");
    }

    /// Removes the origin and its progress.
    public static void drop(Connection connection, String origin) throws SQLException {
        call(connection, "SELECT pg_catalog.pg_replication_origin_drop(?)", origin);
    }

    /// What lets a role use them, for messages.
    public static String grants(String role) {
        return "GRANT EXECUTE ON FUNCTION\n  "
                + String.join(
                        ",\n  ",
                        FUNCTIONS.stream().map(name -> "pg_catalog." + name).toList())
                + "\n  TO " + Quoting.identifier(role) + ";";
    }

    private static void call(Connection connection, String sql, String... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            statement.execute();
        }
    }
}
