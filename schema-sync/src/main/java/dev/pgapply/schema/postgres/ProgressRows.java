package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The row of one subscription in `pgapply.progress`, for roles that may not use replication origins. Every
/// method works in the transaction of the connection it is given, and commits nothing.
public final class ProgressRows {

    private final String subscription;

    public ProgressRows(String subscription) {
        this.subscription = subscription;
    }

    /// The position behind the last applied transaction.
    public Optional<Lsn> read(Connection connection) {
        return read(connection, "");
    }

    /// Reads it and holds it against others until the transaction ends: an old writer whose commit is still on
    /// its way is waited for.
    public Optional<Lsn> lock(Connection connection) {
        return read(connection, " FOR UPDATE");
    }

    private Optional<Lsn> read(Connection connection, String locking) {
        String sql = "SELECT lsn FROM pgapply.progress WHERE subscription = ?" + locking;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, subscription);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(Lsn.parse(row.getString(1))) : Optional.empty();
            }
        } catch (SQLException e) {
            throw SqlFailure.during("reading the progress of subscription " + subscription, e);
        }
    }

    /// Adds the row of a new subscription.
    ///
    /// @return false if there is one already
    public boolean insert(Connection connection, Lsn position) {
        String sql = "INSERT INTO pgapply.progress (subscription, lsn) VALUES (?, ?::pg_lsn)"
                + " ON CONFLICT (subscription) DO NOTHING";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, subscription);
            statement.setString(2, position.toString());
            return statement.executeUpdate() == 1;
        } catch (SQLException e) {
            throw SqlFailure.during("storing the progress of subscription " + subscription, e);
        }
    }

    /// Moves progress from exactly one position to a later one.
    ///
    /// @param commitTime when the source committed the last transaction before `to`
    /// @return false if progress was not at `from`: somebody else writes under this name
    public boolean advance(Connection connection, Lsn from, Lsn to, @Nullable Instant commitTime) {
        String sql = """
                UPDATE pgapply.progress SET lsn = ?::pg_lsn, commit_time = ?
                WHERE subscription = ? AND lsn = ?::pg_lsn""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, to.toString());
            statement.setObject(
                    2, commitTime == null ? null : commitTime.atOffset(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE);
            statement.setString(3, subscription);
            statement.setString(4, from.toString());
            return statement.executeUpdate() == 1;
        } catch (SQLException e) {
            throw SqlFailure.during("storing the progress of subscription " + subscription, e);
        }
    }
}
