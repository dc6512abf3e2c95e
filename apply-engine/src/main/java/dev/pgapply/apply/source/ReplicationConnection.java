package dev.pgapply.apply.source;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SessionProfile;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import org.postgresql.PGProperty;

/// A connection to a walsender: makes slots, then becomes a stream. One thread.
///
/// @see <a href="https://www.postgresql.org/docs/current/protocol-replication.html">Replication commands</a>
public final class ReplicationConnection implements AutoCloseable {

    /// A slot that was just made.
    ///
    /// @param consistentPoint transactions whose commit begins here or later come through the slot, all others
    ///     are in the snapshot
    /// @param snapshot usable by `SET TRANSACTION SNAPSHOT` until the next command on this connection
    public record NewSlot(Lsn consistentPoint, String snapshot) {}

    private final PostgresSession session;
    private final SourceErrors errors;

    private ReplicationConnection(PostgresSession session, SourceErrors errors) {
        this.session = session;
        this.errors = errors;
    }

    public static ReplicationConnection open(PostgresConnector connector, SessionProfile profile, SourceErrors errors) {
        try {
            return new ReplicationConnection(connector.open(inBursts(connector, profile)), errors);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
    }

    /// The endpoint's own sockets, where it names some, reach a server that others do not.
    private static SessionProfile inBursts(PostgresConnector connector, SessionProfile profile) {
        SessionProfile burst = profile;
        if (!connector.endpoint().parameters().containsKey(PGProperty.SOCKET_FACTORY.getName())) {
            for (var property : BurstSocketFactory.driverProperties().entrySet()) {
                burst = burst.withDriverProperty(property.getKey(), property.getValue());
            }
        }
        return burst;
    }

    /// Makes a slot and exports the snapshot that goes with it. Waits until every transaction that is open now
    /// has ended.
    ///
    /// @param temporary the slot goes with this connection
    /// @param failover keep it on standbys too (17 and newer)
    public NewSlot createSlot(String name, boolean temporary, boolean failover) {
        String command = "CREATE_REPLICATION_SLOT " + Quoting.identifier(name) + (temporary ? " TEMPORARY" : "")
                + " LOGICAL pgoutput"
                + (session.majorVersion() >= 15
                        ? " (SNAPSHOT 'export'" + (failover ? ", FAILOVER true)" : ")")
                        : " EXPORT_SNAPSHOT");
        try (Statement statement = session.connection().createStatement();
                ResultSet answer = statement.executeQuery(command)) {
            answer.next();
            return new NewSlot(Lsn.parse(answer.getString("consistent_point")), answer.getString("snapshot_name"));
        } catch (SQLException e) {
            throw errors.translate("creating slot " + name, e);
        }
    }

    /// Starts the stream; the connection belongs to it from now on.
    public ReplicationStream start(String slot, Lsn from, StreamOptions options) {
        return CopyDualStream.start(session.connection(), options.command(slot, from), Clock.systemUTC(), errors);
    }

    /// Breaks the connection, from any thread.
    public void abort() {
        session.abort();
    }

    @Override
    public void close() {
        abort();
    }
}
