package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// Asks a source about itself, through any session of it. Belongs to the connection's thread.
public final class SourceServer {

    private final Connection connection;
    private final int serverVersion;

    public SourceServer(PostgresSession session) {
        this.connection = session.connection();
        this.serverVersion = session.serverVersion();
    }

    // From 19 on the level in effect may be higher than the one that is set.
    private static final String FACTS = """
            SELECT c.system_identifier, p.timeline_id, current_database(), current_setting('server_encoding'),
              current_user, coalesce(current_setting('effective_wal_level', true), current_setting('wal_level')), r.yes,
              CASE WHEN r.yes THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END,
              CASE WHEN r.yes THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END,
              current_setting('max_replication_slots')::int, (SELECT count(*) FROM pg_replication_slots),
              current_setting('max_wal_senders')::int,
              (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'),
              (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user)
            FROM pg_control_system() AS c, pg_control_checkpoint() AS p, pg_is_in_recovery() AS r(yes)
            """;

    public SourceFacts facts() {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(FACTS)) {
            row.next();
            return new SourceFacts(
                    serverVersion,
                    Long.toUnsignedString(row.getLong(1)),
                    row.getInt(2),
                    row.getString(3),
                    row.getString(4),
                    row.getString(5),
                    row.getString(6),
                    row.getBoolean(7),
                    lsn(row, 8).orElse(Lsn.INVALID),
                    lsn(row, 9).orElse(Lsn.INVALID),
                    row.getInt(10),
                    row.getInt(11),
                    row.getInt(12),
                    row.getInt(13),
                    row.getBoolean(14));
        } catch (SQLException e) {
            throw SqlFailure.during("asking the source about itself", e);
        }
    }

    /// What the source has on its disk at this moment, and so can decode; on a standby what it has replayed.
    public Lsn flushPosition() {
        String sql = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                + " ELSE pg_current_wal_flush_lsn() END";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return lsn(row, 1).orElse(Lsn.INVALID);
        } catch (SQLException e) {
            throw SqlFailure.during("asking for the source's position", e);
        }
    }

    /// The slot with this name, whatever it belongs to.
    public Optional<SlotFacts> slot(String name) {
        try (PreparedStatement statement = connection.prepareStatement(slotQuery())) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(slot(row)) : Optional.empty();
            }
        } catch (SQLException e) {
            throw SqlFailure.during("reading replication slot " + name, e);
        }
    }

    private String slotQuery() {
        String invalidation;
        if (serverVersion >= 170_000) {
            invalidation = "s.invalidation_reason";
        } else if (serverVersion >= 160_000) {
            invalidation = "CASE WHEN s.conflicting THEN 'conflicting' END";
        } else {
            invalidation = "NULL";
        }
        return "SELECT s.slot_name, s.plugin, s.database, s.temporary, s.active_pid, a.application_name,"
                + " s.restart_lsn, s.confirmed_flush_lsn, "
                + (serverVersion >= 130_000 ? "s.wal_status, " : "NULL, ")
                + invalidation
                + (serverVersion >= 140_000 ? ", s.two_phase" : ", false")
                + (serverVersion >= 170_000 ? ", s.failover" : ", false")
                + " FROM pg_replication_slots s LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid"
                + " WHERE s.slot_name = ?::name";
    }

    private static SlotFacts slot(ResultSet row) throws SQLException {
        int pid = row.getInt(5);
        return new SlotFacts(
                row.getString(1),
                Optional.ofNullable(row.getString(2)),
                Optional.ofNullable(row.getString(3)),
                row.getBoolean(4),
                pid == 0 ? OptionalInt.empty() : OptionalInt.of(pid),
                Optional.ofNullable(row.getString(6)).filter(application -> !application.isEmpty()),
                lsn(row, 7),
                lsn(row, 8),
                Optional.ofNullable(row.getString(9)),
                Optional.ofNullable(row.getString(10)),
                row.getBoolean(11),
                row.getBoolean(12));
    }

    /// Sends `IDENTIFY_SYSTEM`, which only a replication connection takes.
    public static SystemIdentity identify(PostgresSession replication) {
        try (Statement statement = replication.connection().createStatement();
                ResultSet row = statement.executeQuery("IDENTIFY_SYSTEM")) {
            row.next();
            return new SystemIdentity(
                    row.getString("systemid"),
                    row.getInt("timeline"),
                    lsn(row, row.findColumn("xlogpos")).orElse(Lsn.INVALID),
                    row.getString("dbname"));
        } catch (SQLException e) {
            throw SqlFailure.during("identifying the source", e);
        }
    }

    private static Optional<Lsn> lsn(ResultSet row, int column) throws SQLException {
        @Nullable String text = row.getString(column);
        return text == null ? Optional.empty() : Optional.of(Lsn.parse(text));
    }

    /// Writes an empty logical message that belongs to no transaction.
    ///
    /// @throws dev.pgapply.schema.SchemaException if the server does not, because it is a standby for instance
    public void emitMessage(String prefix) {
        try (PreparedStatement emit =
                connection.prepareStatement("SELECT pg_catalog.pg_logical_emit_message(false, ?, '')")) {
            emit.setString(1, prefix);
            emit.execute();
        } catch (SQLException e) {
            throw SqlFailure.during("writing the heartbeat", e);
        }
    }
}
