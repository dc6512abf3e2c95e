package dev.pgapply.apply.tablesync;

import dev.pgapply.apply.target.postgres.TargetErrors;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.ReplicationOrigins;
import dev.pgapply.schema.postgres.SessionProfile;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/// Marks copied rows as received: whoever follows the target without what it has received itself must not get
/// them, or two databases that follow each other send each copied row back.
///
/// The server leaves out a transaction by the origin in its commit record, so the origin is taken for the time
/// of the commit only, and one serves all workers. Its progress is never set. Where the role may not use
/// origins, commits are plain ones.
public final class CopyOrigin implements AutoCloseable {

    private final String name;
    /// Null where the role may not use origins.
    private final @Nullable PostgresSession session;

    private CopyOrigin(String name, @Nullable PostgresSession session) {
        this.name = name;
        this.session = session;
    }

    /// Makes the origin, and takes it once, so that no finished copy can fail for want of it.
    public static CopyOrigin open(PostgresConnector target, TargetErrors errors, String name) {
        PostgresSession session;
        try {
            session = target.open(SessionProfile.TARGET_CONTROL);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
        try {
            Connection connection = session.connection();
            if (!ReplicationOrigins.areUsable(connection)) {
                session.close();
                return new CopyOrigin(name, null);
            }
            ReplicationOrigins.create(connection, name);
            ReplicationOrigins.setUp(connection, name);
            ReplicationOrigins.reset(connection);
            return new CopyOrigin(name, session);
        } catch (SQLException e) {
            session.close();
            throw errors.translate("preparing the replication origin of the copy", e);
        }
    }

    /// Commits the connection's open transaction with the origin. From any thread.
    synchronized void commit(Connection copying) throws SQLException {
        try (Statement statement = copying.createStatement()) {
            if (session == null) {
                statement.execute("COMMIT");
                return;
            }
            ReplicationOrigins.setUp(copying, name);
            statement.execute("COMMIT");
            ReplicationOrigins.reset(copying);
        }
    }

    @Override
    public void close() {
        if (session == null) {
            return;
        }
        try {
            ReplicationOrigins.drop(session.connection(), name);
        } catch (SQLException e) {
            // A worker that failed may still have it; the next copy takes it over and drops it then.
        }
        session.close();
    }
}
