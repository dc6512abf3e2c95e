package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException;
import java.sql.Connection;
import java.sql.SQLException;

/// An open, pinned connection with what is known of its server.
///
/// @param connection in autocommit mode; closing it closes the session
/// @param serverVersion `server_version_num`: 150019 is 15.19
/// @param databaseEncoding the database's encoding by PostgreSQL's name: `UTF8`, `LATIN1`, `SQL_ASCII`
public record PostgresSession(Connection connection, int serverVersion, String databaseEncoding)
        implements AutoCloseable {

    public static final String SQL_ASCII = "SQL_ASCII";

    /// 10 to 19.
    public int majorVersion() {
        return serverVersion / 10_000;
    }

    /// What the session of this connection runs on, asked from the server: for connections out of a pool.
    ///
    /// @throws SchemaException if the server does not answer
    public static PostgresSession of(Connection connection) {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT pg_catalog.current_setting('server_version_num')::int,"
                        + " pg_catalog.current_setting('server_encoding')")) {
            row.next();
            return new PostgresSession(connection, row.getInt(1), row.getString(2));
        } catch (SQLException e) {
            throw SqlFailure.during("asking for the server's version", e);
        }
    }

    /// The value of a parameter in this session, as `SHOW` shows it.
    ///
    /// @throws SchemaException if there is none of that name, or the server does not answer
    public String setting(String name) {
        try (var query = connection.prepareStatement("SELECT pg_catalog.current_setting(?)")) {
            query.setString(1, name);
            try (var row = query.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        } catch (SQLException e) {
            throw SqlFailure.during("asking for the parameter " + name, e);
        }
    }

    /// Breaks the connection, from any thread: whoever waits in it fails.
    public void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // It is gone already, which is all that was wanted.
        }
    }

    /// Closes the connection; closing it twice is allowed.
    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw SqlFailure.during("closing a connection", e);
        }
    }
}
