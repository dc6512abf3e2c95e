package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.Durability;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresSession;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/// Asks a PostgreSQL target what has survived, on a connection of its own.
final class PostgresDurability implements Durability {

    private static final Duration BETWEEN_PRUNINGS = Duration.ofSeconds(10);

    private final PostgresSession session;
    private final ProgressStore store;
    private final String subscription;
    private final TargetErrors errors;

    private Lsn pruned = Lsn.INVALID;
    private long prunedAtNanos = System.nanoTime() - BETWEEN_PRUNINGS.toNanos();

    PostgresDurability(PostgresSession session, ProgressStore store, String subscription, TargetErrors errors) {
        this.session = session;
        this.store = store;
        this.subscription = subscription;
        this.errors = errors;
    }

    @Override
    public Lsn durable(Lsn committed) {
        try {
            Lsn durable = store.durable(session.connection(), committed).min(committed);
            prune(durable);
            return durable;
        } catch (SQLException e) {
            throw errors.translate("asking for the durable progress", e);
        }
    }

    private void prune(Lsn durable) throws SQLException {
        if (durable.isAfter(pruned) && System.nanoTime() - prunedAtNanos >= BETWEEN_PRUNINGS.toNanos()) {
            ProgressStore.prune(session.connection(), subscription, pruned, durable);
            pruned = durable;
            prunedAtNanos = System.nanoTime();
        }
    }

    @Override
    public void confirm(Lsn position) {
        // Tables whose copy position has been passed without a row are ready as well.
        String sql = "WITH ready AS (UPDATE pgapply.table_state SET state = 'READY', changed_at = now()"
                + " WHERE subscription = ? AND state IN ('COPIED', 'CATCHUP') AND copy_lsn <= ?::pg_lsn)"
                + " UPDATE pgapply.subscription SET confirmed_lsn = ?::pg_lsn WHERE name = ?";
        try (PreparedStatement update = session.connection().prepareStatement(sql)) {
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
        session.abort();
    }

    @Override
    public void abort() {
        session.abort();
    }
}
