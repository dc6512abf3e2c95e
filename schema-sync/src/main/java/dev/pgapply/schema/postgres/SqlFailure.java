package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.SchemaException.ConnectionFailed;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.StatementFailed;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/// Turns what the driver threw into the exception of whoever has to act.
final class SqlFailure {

    private SqlFailure() {}

    /// A failure on an open connection.
    ///
    /// @param doing what was tried, without values: `reading the publications`
    static SchemaException during(String doing, SQLException e) {
        String state = state(e);
        String message = doing + ": " + primaryMessage(e);
        if (state.startsWith("08") || endsSession(state)) {
            return new ConnectionFailed(ConnectionFailed.Kind.LOST, message, "", state, e);
        }
        if (state.equals("42501")) {
            return new NotPermitted(message, "", state, e);
        }
        return new StatementFailed(message, "", state, e);
    }

    /// A failure while a connection was being opened.
    static SchemaException connecting(PostgresEndpoint endpoint, boolean replication, SQLException e) {
        String state = state(e);
        String message = "no connection: " + primaryMessage(e);
        if (state.equals("42501") && replication) {
            return new NotPermitted(
                    message, "ALTER ROLE " + Quoting.identifier(endpoint.user()) + " REPLICATION;", state, e);
        }
        return switch (state) {
            case "28000", "28P01", "3D000", "42501", "42704", "55000", "08004" ->
                new ConnectionFailed(ConnectionFailed.Kind.REFUSED, message, refusedHint(state, endpoint), state, e);
            case "53300" ->
                new ConnectionFailed(ConnectionFailed.Kind.UNREACHABLE, message, fullHint(replication), state, e);
            default ->
                new ConnectionFailed(
                        ConnectionFailed.Kind.UNREACHABLE,
                        message,
                        "Check host and port, whether the server runs, and whether it listens there (listen_addresses, a"
                                + " firewall between).",
                        state,
                        e);
        };
    }

    /// The SQLState, empty where neither server nor driver gave one.
    static String state(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state == null ? "" : state;
    }

    /// The first line of what the server said: its detail may hold values of rows, so it is left out.
    static String primaryMessage(SQLException e) {
        if (e instanceof PSQLException fromServer) {
            @Nullable ServerErrorMessage parts = fromServer.getServerErrorMessage();
            @Nullable String primary = parts == null ? null : parts.getMessage();
            if (primary != null) {
                return primary;
            }
        }
        @Nullable String message = e.getMessage();
        String text = message == null ? e.getClass().getSimpleName() : message;
        @Nullable Throwable cause = e.getCause();
        if (cause instanceof UnknownHostException) {
            return "host " + cause.getMessage() + " has no address";
        }
        // "Connection refused" says no more than the driver has said already.
        return cause == null
                        || cause instanceof ConnectException
                        || cause.getMessage() == null
                        || text.contains(cause.getMessage())
                ? text
                : text + " (" + cause.getMessage() + ")";
    }

    // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout and their kin: the session is
    // over.
    private static boolean endsSession(String state) {
        return switch (state) {
            case "57P01", "57P02", "57P03", "57P05", "25P03", "25P04" -> true;
            default -> false;
        };
    }

    private static String refusedHint(String state, PostgresEndpoint endpoint) {
        return switch (state) {
            case "28P01", "08004" -> "Check the role's password: password_file, PGPASSWORD or .pgpass.";
            case "28000" -> "Check the role and the server's pg_hba.conf.";
            case "3D000" ->
                "Check the database's name, or CREATE DATABASE " + Quoting.identifier(endpoint.database()) + ";";
            default -> "";
        };
    }

    private static String fullHint(boolean replication) {
        return replication ? "Raise max_wal_senders, or end a walsender that is not needed." : "Raise max_connections.";
    }
}
