package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The rows of `pgapply.table_state` of one subscription. The caller owns connection and transaction.
public final class TableStates {

    /// How far a table has come.
    public enum State {
        /// To be copied.
        INIT,
        COPYING,
        /// Its rows as of the copy position are there; it waits for the stream to pass that position.
        COPIED,
        CATCHUP,
        /// It is followed like all others.
        READY,
        /// It is not followed any more; its rows are kept.
        STOPPED
    }

    /// @param copyLsn transactions whose commit begins before it are in the copy; `0/0` if there is no copy
    public record TableState(State state, Lsn copyLsn) {}

    private final String subscription;

    public TableStates(String subscription) {
        this.subscription = subscription;
    }

    public Map<TableName, TableState> read(Connection connection) throws SQLException {
        Map<TableName, TableState> states = new TreeMap<>();
        try (PreparedStatement query = connection.prepareStatement(
                "SELECT schema_name, table_name, state, copy_lsn::text FROM pgapply.table_state WHERE subscription = ?")) {
            query.setString(1, subscription);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    states.put(
                            new TableName(row.getString(1), row.getString(2)),
                            state(row.getString(3), row.getString(4)));
                }
            }
        }
        return states;
    }

    /// Locks the table's row, so that nobody else copies the table, and reads it.
    public Optional<TableState> lock(Connection connection, TableName table) throws SQLException {
        try (PreparedStatement query =
                connection.prepareStatement("SELECT state, copy_lsn::text FROM pgapply.table_state"
                        + " WHERE subscription = ? AND schema_name = ? AND table_name = ? FOR UPDATE")) {
            name(query, 1, table);
            try (ResultSet row = query.executeQuery()) {
                return row.next() ? Optional.of(state(row.getString(1), row.getString(2))) : Optional.empty();
            }
        }
    }

    /// Makes rows for tables that have none, or writes over what was said of them. [State#INIT] never replaces
    /// a copy: the rest of a killed instance may have committed it while this waited for the row.
    public void put(Connection connection, Collection<TableName> tables, State state, Lsn copyLsn) throws SQLException {
        try (PreparedStatement upsert = connection.prepareStatement(
                "INSERT INTO pgapply.table_state AS t (subscription, schema_name, table_name, state, copy_lsn)"
                        + " VALUES (?, ?, ?, ?, ?::pg_lsn) ON CONFLICT (subscription, schema_name, table_name)"
                        + " DO UPDATE SET state = excluded.state, copy_lsn = excluded.copy_lsn, changed_at = now()"
                        + " WHERE excluded.state <> 'INIT' OR t.state NOT IN ('COPIED', 'CATCHUP', 'READY')")) {
            for (TableName table : tables) {
                name(upsert, 1, table);
                upsert.setString(4, state.name());
                upsert.setString(5, copyLsn.toString());
                upsert.addBatch();
            }
            upsert.executeBatch();
        }
    }

    /// Notes a finished copy; in the transaction that has written the rows.
    public void copied(Connection connection, TableName table, Lsn copyLsn, long rows) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(
                "UPDATE pgapply.table_state SET state = 'COPIED', copy_lsn = ?::pg_lsn, rows_copied = ?, changed_at = now()"
                        + " WHERE subscription = ? AND schema_name = ? AND table_name = ?")) {
            update.setString(1, copyLsn.toString());
            update.setLong(2, rows);
            name(update, 3, table);
            if (update.executeUpdate() != 1) {
                throw new SQLException("the state of table " + table + " is gone from pgapply.table_state");
            }
        }
    }

    private void name(PreparedStatement statement, int first, TableName table) throws SQLException {
        statement.setString(first, subscription);
        statement.setString(first + 1, table.schema());
        statement.setString(first + 2, table.name());
    }

    private static TableState state(String state, @org.jspecify.annotations.Nullable String copyLsn) {
        return new TableState(State.valueOf(state), copyLsn == null ? Lsn.INVALID : Lsn.parse(copyLsn));
    }
}
