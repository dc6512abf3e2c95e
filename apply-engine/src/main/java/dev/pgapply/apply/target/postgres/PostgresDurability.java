package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.Durability;
import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/// Asks a PostgreSQL target what has survived, on a connection of its own.
final class PostgresDurability implements Durability {

    private final Connection connection;
    private final ProgressStore store;
    private final String subscription;
    private final TargetErrors errors;

    PostgresDurability(Connection connection, ProgressStore store, String subscription, TargetErrors errors) {
        this.connection = connection;
        this.store = store;
        this.subscription = subscription;
        this.errors = errors;
    }

    @Override
    public Lsn durable(Lsn committed) {
        try {
            return store.durable(connection, committed).min(committed);
        } catch (SQLException e) {
            throw errors.translate("asking for the durable progress", e);
        }
    }

    @Override
    public void confirm(Lsn position) {
        // Tables whose copy position has been passed without a row are ready as well.
        String sql = "WITH ready AS (UPDATE pgapply.table_state SET state = 'READY', changed_at = now()"
                + " WHERE subscription = ? AND state IN ('COPIED', 'CATCHUP') AND copy_lsn <= ?::pg_lsn)"
                + " UPDATE pgapply.subscription SET confirmed_lsn = ?::pg_lsn WHERE name = ?";
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setString(1, subscription);
            update.setString(2, position.toString());
            update.setString(3, position.toString());
            update.setString(4, subscription);
            update.executeUpdate();
        } catch (SQLException e) {
            throw errors.translate("storing the confirmed position", e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // Nothing was pending on it.
        }
    }

    @Override
    public void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // It is gone, as wanted.
        }
    }
}
