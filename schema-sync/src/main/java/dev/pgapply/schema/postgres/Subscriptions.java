package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.SubscriptionRecord.Instance;
import dev.pgapply.schema.postgres.SubscriptionRecord.ProgressKind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The row of one subscription in `pgapply.subscription`. Every method works in the transaction of the connection
/// it is given, and commits nothing.
public final class Subscriptions {

    private static final String SELECT = """
            SELECT source_system_id, source_database, slot_name, plugin, progress_kind, confirmed_lsn,
              instance_host, instance_pid, instance_started
            FROM pgapply.subscription WHERE name = ?""";

    private final String name;

    public Subscriptions(String name) {
        this.name = name;
    }

    public Optional<SubscriptionRecord> read(Connection connection) {
        return read(connection, SELECT);
    }

    /// Reads the row and holds it against others until the transaction ends.
    public Optional<SubscriptionRecord> lock(Connection connection) {
        return read(connection, SELECT + " FOR UPDATE");
    }

    private Optional<SubscriptionRecord> read(Connection connection, String sql) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(subscription(row)) : Optional.empty();
            }
        } catch (SQLException e) {
            throw SqlFailure.during("reading subscription " + name, e);
        }
    }

    private SubscriptionRecord subscription(ResultSet row) throws SQLException {
        @Nullable String host = row.getString(7);
        @Nullable OffsetDateTime started = row.getObject(9, OffsetDateTime.class);
        return new SubscriptionRecord(
                name,
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                ProgressKind.valueOf(row.getString(5).toUpperCase(Locale.ROOT)),
                Lsn.parse(row.getString(6)),
                host == null || started == null
                        ? Optional.empty()
                        : Optional.of(new Instance(host, row.getLong(8), started.toInstant())));
    }

    /// Adds the row of a new subscription; its name is this object's.
    ///
    /// @return false if another transaction has added one
    public boolean insert(Connection connection, SubscriptionRecord record) {
        String sql = """
                INSERT INTO pgapply.subscription (name, source_system_id, source_database, slot_name, plugin,
                  progress_kind, confirmed_lsn, instance_host, instance_pid, instance_started)
                VALUES (?, ?, ?, ?, ?, ?, ?::pg_lsn, ?, ?, ?) ON CONFLICT (name) DO NOTHING""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            statement.setString(2, record.sourceSystemIdentifier());
            statement.setString(3, record.sourceDatabase());
            statement.setString(4, record.slotName());
            statement.setString(5, record.plugin());
            statement.setString(6, record.progressKind().name().toLowerCase(Locale.ROOT));
            statement.setString(7, record.confirmed().toString());
            setInstance(statement, 8, record.instance());
            return statement.executeUpdate() == 1;
        } catch (SQLException e) {
            throw SqlFailure.during("storing subscription " + name, e);
        }
    }

    private static void setInstance(PreparedStatement statement, int at, Optional<Instance> instance)
            throws SQLException {
        statement.setString(at, instance.map(Instance::host).orElse(null));
        statement.setObject(at + 1, instance.map(Instance::pid).orElse(null), java.sql.Types.BIGINT);
        statement.setObject(
                at + 2,
                instance.map(running -> running.started().atOffset(ZoneOffset.UTC))
                        .orElse(null),
                java.sql.Types.TIMESTAMP_WITH_TIMEZONE);
    }

    /// Says which instance runs now.
    public void claim(Connection connection, Instance instance) {
        String sql = """
                UPDATE pgapply.subscription SET instance_host = ?, instance_pid = ?, instance_started = ?
                WHERE name = ?""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            setInstance(statement, 1, Optional.of(instance));
            statement.setString(4, name);
            expectOne(statement.executeUpdate());
        } catch (SQLException e) {
            throw SqlFailure.during("storing the instance of subscription " + name, e);
        }
    }

    /// Says where the source's slot is found from now on, after the slot was made anew.
    public void rebind(Connection connection, String sourceSystemIdentifier, String slotName, Lsn confirmed) {
        String sql = """
                UPDATE pgapply.subscription SET source_system_id = ?, slot_name = ?, confirmed_lsn = ?::pg_lsn
                WHERE name = ?""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, sourceSystemIdentifier);
            statement.setString(2, slotName);
            statement.setString(3, confirmed.toString());
            statement.setString(4, name);
            expectOne(statement.executeUpdate());
        } catch (SQLException e) {
            throw SqlFailure.during("storing the slot of subscription " + name, e);
        }
    }

    /// Stores a position before the source is told of it; never moves back.
    public void confirm(Connection connection, Lsn position) {
        String sql = """
                UPDATE pgapply.subscription SET confirmed_lsn = greatest(confirmed_lsn, ?::pg_lsn)
                WHERE name = ?""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, position.toString());
            statement.setString(2, name);
            expectOne(statement.executeUpdate());
        } catch (SQLException e) {
            throw SqlFailure.during("storing the confirmed position of subscription " + name, e);
        }
    }

    /// Deletes everything that is kept of the subscription, in all tables.
    public void delete(Connection connection) {
        for (String sql : new String[] {
            "DELETE FROM pgapply.table_state WHERE subscription = ?",
            "DELETE FROM pgapply.progress WHERE subscription = ?",
            "DELETE FROM pgapply.subscription WHERE name = ?"
        }) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, name);
                statement.executeUpdate();
            } catch (SQLException e) {
                throw SqlFailure.during("deleting subscription " + name, e);
            }
        }
    }

    private void expectOne(int rows) {
        if (rows != 1) {
            throw new IllegalStateException("subscription " + name + " is not stored on the target");
        }
    }
}
