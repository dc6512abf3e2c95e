package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.Durability;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Asks a PostgreSQL target what has survived, on a connection of its own.
final class PostgresDurability implements Durability {

    private static final Duration BETWEEN_PRUNINGS = Duration.ofSeconds(10);

    private final PostgresSession session;
    private final ProgressStore store;
    private final String subscription;
    private final TargetErrors errors;
    private final int writer;

    private Lsn pruned = Lsn.INVALID;
    private long prunedAtNanos = System.nanoTime() - BETWEEN_PRUNINGS.toNanos();

    /// @param writer the server process of the writing session
    PostgresDurability(
            PostgresSession session, ProgressStore store, String subscription, TargetErrors errors, int writer) {
        this.session = session;
        this.store = store;
        this.subscription = subscription;
        this.errors = errors;
        this.writer = writer;
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

    /// Whoever is at the end of the queue: a session that waits itself is not what has to be ended. A prepared
    /// transaction has no process; the deadlock detector does not see who waits for it.
    private static final String BLOCKERS = """
            WITH RECURSIVE waiting (pid) AS (
              SELECT ?::int
              UNION
              SELECT blocker FROM waiting, unnest(pg_catalog.pg_blocking_pids(waiting.pid)) AS blocker WHERE blocker <> 0
            )
            SELECT DISTINCT 'prepared transaction ' || x.gid || ', prepared ' || x.prepared || ' by ' || x.owner
            FROM waiting
            JOIN pg_catalog.pg_locks AS wanted ON wanted.pid = waiting.pid AND NOT wanted.granted
            JOIN pg_catalog.pg_locks AS held ON held.granted AND held.pid IS NULL
              AND (held.locktype, held.database, held.relation, held.page, held.tuple, held.transactionid,
                held.classid, held.objid, held.objsubid) IS NOT DISTINCT FROM (wanted.locktype, wanted.database,
                wanted.relation, wanted.page, wanted.tuple, wanted.transactionid, wanted.classid, wanted.objid,
                wanted.objsubid)
            JOIN pg_catalog.pg_locks AS own ON own.locktype = 'transactionid' AND own.granted AND own.pid IS NULL
              AND own.virtualtransaction = held.virtualtransaction
            JOIN pg_catalog.pg_prepared_xacts AS x ON x.transaction = own.transactionid
            UNION ALL
            SELECT 'server process ' || a.pid || coalesce(' (' || nullif(a.application_name, '') || ')', '')
              || coalesce(', ' || a.state, '')
            FROM waiting
            JOIN pg_catalog.pg_stat_activity AS a ON a.pid = waiting.pid
            WHERE a.pid <> ? AND pg_catalog.cardinality(pg_catalog.pg_blocking_pids(a.pid)) = 0
            """;

    @Override
    public Optional<String> blocker() {
        try (PreparedStatement query = session.connection().prepareStatement(BLOCKERS)) {
            query.setInt(1, writer);
            query.setInt(2, writer);
            List<String> blockers = new ArrayList<>();
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    blockers.add(row.getString(1));
                }
            }
            return blockers.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", blockers));
        } catch (SQLException e) {
            throw errors.translate("asking for locks", e);
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
