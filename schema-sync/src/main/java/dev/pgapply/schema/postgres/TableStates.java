package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The rows of one subscription in `pgapply.table_state`. Every method works in the transaction of the connection
/// it is given, and commits nothing.
public final class TableStates {

    /// How far a table is.
    public enum State {
        /// Known, nothing done.
        INIT,
        /// A copy was begun; what it wrote is not committed, or is to be thrown away.
        COPYING,
        /// Its rows are there as of its copy position.
        COPIED,
        /// Changes from its copy position on are applied, behind the other tables.
        CATCHUP,
        /// It is followed like every other.
        READY,
        /// Something about it needs a person.
        STOPPED
    }

    /// A row.
    ///
    /// @param copyLsn the position of the snapshot that was copied; absent until there is one, and for tables
    ///     that were not copied
    /// @param reason why the table is stopped
    public record TableState(
            TableName table, State state, Optional<Lsn> copyLsn, long rowsCopied, Optional<String> reason) {

        /// A table about which nothing is done yet.
        public static TableState init(TableName table) {
            return new TableState(table, State.INIT, Optional.empty(), 0, Optional.empty());
        }
    }

    private static final String COLUMNS = "SELECT schema_name, table_name, state, copy_lsn, rows_copied, reason"
            + " FROM pgapply.table_state WHERE subscription = ?";

    private final String subscription;

    public TableStates(String subscription) {
        this.subscription = subscription;
    }

    /// All tables of the subscription, by name, sorted.
    public Map<TableName, TableState> read(Connection connection) {
        try (PreparedStatement statement = connection.prepareStatement(
                COLUMNS + " ORDER BY schema_name COLLATE \"C\", table_name COLLATE \"C\"")) {
            statement.setString(1, subscription);
            Map<TableName, TableState> states = new LinkedHashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    TableState state = state(row);
                    states.put(state.table(), state);
                }
            }
            return states;
        } catch (SQLException e) {
            throw SqlFailure.during("reading the tables of subscription " + subscription, e);
        }
    }

    /// Reads one row and holds it against others until the transaction ends: an old copy that is still being
    /// committed is waited for.
    public Optional<TableState> lock(Connection connection, TableName table) {
        String sql = COLUMNS + " AND schema_name = ? AND table_name = ? FOR UPDATE";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, subscription);
            statement.setString(2, table.schema());
            statement.setString(3, table.name());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(state(row)) : Optional.empty();
            }
        } catch (SQLException e) {
            throw SqlFailure.during("reading the state of " + table, e);
        }
    }

    private static TableState state(ResultSet row) throws SQLException {
        @Nullable String copyLsn = row.getString(4);
        return new TableState(
                new TableName(row.getString(1), row.getString(2)),
                State.valueOf(row.getString(3)),
                copyLsn == null ? Optional.empty() : Optional.of(Lsn.parse(copyLsn)),
                row.getLong(5),
                Optional.ofNullable(row.getString(6)));
    }

    /// Stores a table, new or known.
    public void put(Connection connection, TableState state) {
        String sql = """
                INSERT INTO pgapply.table_state
                  (subscription, schema_name, table_name, state, copy_lsn, rows_copied, reason, changed_at)
                VALUES (?, ?, ?, ?, ?::pg_lsn, ?, ?, now())
                ON CONFLICT (subscription, schema_name, table_name) DO UPDATE SET state = excluded.state,
                  copy_lsn = excluded.copy_lsn, rows_copied = excluded.rows_copied, reason = excluded.reason,
                  changed_at = excluded.changed_at""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, subscription);
            statement.setString(2, state.table().schema());
            statement.setString(3, state.table().name());
            statement.setString(4, state.state().name());
            statement.setString(5, state.copyLsn().map(Lsn::toString).orElse(null));
            statement.setLong(6, state.rowsCopied());
            statement.setString(7, state.reason().orElse(null));
            statement.executeUpdate();
        } catch (SQLException e) {
            throw SqlFailure.during("storing the state of " + state.table(), e);
        }
    }

    /// Moves many tables to one state and leaves the rest of their rows as it is.
    ///
    /// @return how many there were
    public int move(Connection connection, Collection<TableName> tables, State to) {
        String sql = """
                UPDATE pgapply.table_state t SET state = ?, changed_at = now()
                FROM unnest(?::text[], ?::text[]) AS w(schema_name, table_name)
                WHERE t.subscription = ? AND t.schema_name = w.schema_name AND t.table_name = w.table_name""";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, to.name());
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::schema).toArray()));
            statement.setArray(
                    3,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::name).toArray()));
            statement.setString(4, subscription);
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw SqlFailure.during("storing the states of tables", e);
        }
    }

    /// Forgets a table.
    public void delete(Connection connection, TableName table) {
        String sql = "DELETE FROM pgapply.table_state WHERE subscription = ? AND schema_name = ? AND table_name = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, subscription);
            statement.setString(2, table.schema());
            statement.setString(3, table.name());
            statement.executeUpdate();
        } catch (SQLException e) {
            throw SqlFailure.during("forgetting table " + table, e);
        }
    }
}
