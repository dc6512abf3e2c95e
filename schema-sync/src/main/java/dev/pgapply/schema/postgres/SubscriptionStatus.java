package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What a target knows of a subscription, whether it runs or not.
///
/// @param progress how far its rows are; `0/0` before the first
/// @param commitTime when the source committed the last of them
/// @param confirmed up to here nothing else is wanted from the source
/// @param slotName the slot, once there is one
/// @param running whether an instance has its lock now
/// @param tables how many tables are in each state
/// @param prepared transactions that are prepared on the target and undecided, the oldest first
public record SubscriptionStatus(
        Lsn progress,
        Optional<Instant> commitTime,
        Lsn confirmed,
        Optional<String> slotName,
        boolean running,
        Map<State, Integer> tables,
        List<Prepared> prepared) {

    /// One of them.
    ///
    /// @param gid its name in the target's `pg_prepared_xacts`
    /// @param age since it was prepared there, by the target's clock
    public record Prepared(String gid, Duration age) {}

    /// Asks the target.
    ///
    /// @param objectName the name of the subscription's origin and lock
    /// @return empty if it knows no such subscription
    /// @throws SchemaException if the target does not answer
    public static Optional<SubscriptionStatus> read(PostgresSession target, String subscription, String objectName) {
        if (ControlSchema.installedVersion(target) < ControlSchema.VERSION) {
            return Optional.empty();
        }
        Connection connection = target.connection();
        try {
            if (!exists(connection, subscription)) {
                return Optional.empty();
            }
            Optional<SubscriptionRecord> slot = SubscriptionRecord.read(connection, subscription);
            Progress progress = progress(connection, subscription);
            return Optional.of(new SubscriptionStatus(
                    progress.lsn(),
                    progress.commitTime(),
                    slot.map(SubscriptionRecord::confirmed).orElse(Lsn.INVALID).max(progress.lsn()),
                    slot.map(SubscriptionRecord::slotName),
                    isRunning(connection, objectName),
                    tables(connection, subscription, progress.lsn()),
                    prepared(connection, objectName)));
        } catch (SQLException e) {
            throw SqlFailure.during("asking for the subscription", e);
        }
    }

    private record Progress(Lsn lsn, Optional<Instant> commitTime) {}

    private static boolean exists(Connection connection, String subscription) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT FROM pgapply.subscription WHERE name = ?")) {
            query.setString(1, subscription);
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }

    private static Progress progress(Connection connection, String subscription) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT lsn::text,"
                + " nullif(extract(epoch FROM commit_time), 0) FROM pgapply.progress WHERE subscription = ?"
                + " ORDER BY lsn DESC LIMIT 1")) {
            query.setString(1, subscription);
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    return new Progress(Lsn.INVALID, Optional.empty());
                }
                double seconds = row.getDouble(2);
                Optional<Instant> time = row.wasNull()
                        ? Optional.empty()
                        : Optional.of(Instant.ofEpochMilli(Math.round(seconds * 1_000)));
                return new Progress(Lsn.parse(row.getString(1)), time);
            }
        }
    }

    /// Every connection of an instance has its name, but only one that applies is there all the time.
    private static boolean isRunning(Connection connection, String objectName) throws SQLException {
        String application = objectName.replaceFirst("_", "/");
        try (PreparedStatement query = connection.prepareStatement(
                "SELECT FROM pg_catalog.pg_stat_activity AS a JOIN pg_catalog.pg_locks AS l ON l.pid = a.pid"
                        + " AND l.locktype = 'advisory' AND l.granted"
                        + " WHERE a.application_name = ? AND a.datname = pg_catalog.current_database() LIMIT 1")) {
            query.setString(1, application);
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }

    /// What is written down becomes READY some time after the progress has passed the table's copy.
    private static Map<State, Integer> tables(Connection connection, String subscription, Lsn progress)
            throws SQLException {
        Map<State, Integer> counts = new EnumMap<>(State.class);
        for (TableState table : new TableStates(subscription).read(connection).values()) {
            State state = switch (table.state()) {
                case COPIED, CATCHUP -> table.copyLsn().isAfter(progress) ? table.state() : State.READY;
                case INIT, COPYING, READY, STOPPED -> table.state();
            };
            counts.merge(state, 1, Integer::sum);
        }
        return counts;
    }

    private static List<Prepared> prepared(Connection connection, String objectName) throws SQLException {
        List<Prepared> prepared = new ArrayList<>();
        try (PreparedStatement query =
                connection.prepareStatement("SELECT gid, extract(epoch FROM pg_catalog.clock_timestamp() - prepared)"
                        + " FROM pg_catalog.pg_prepared_xacts WHERE database = pg_catalog.current_database()"
                        + " AND gid ~ ('^' || ? || '_[0-9]+_[0-9]+$') ORDER BY prepared")) {
            query.setString(1, objectName);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    prepared.add(
                            new Prepared(row.getString(1), Duration.ofMillis(Math.round(row.getDouble(2) * 1_000))));
                }
            }
        }
        return prepared;
    }
}
