package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/// A connector and a profile in the shape that pools want. Login data belongs to the endpoint, so the variant
/// with user and password is refused; there is no log writer.
final class PinnedDataSource implements DataSource {

    private final PostgresConnector connector;
    private final SessionProfile profile;

    PinnedDataSource(PostgresConnector connector, SessionProfile profile) {
        this.connector = connector;
        this.profile = profile;
    }

    @Override
    public Connection getConnection() throws SQLException {
        try {
            return connector.open(profile).connection();
        } catch (SchemaException e) {
            throw new SQLException(e.getMessage(), e.sqlState().orElse("08001"), e);
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("the endpoint says who logs in");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        // A pool that closes waits so long for a connection that is being made.
        return 10;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("nothing is logged");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        throw new SQLException("not a wrapper of " + type.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
