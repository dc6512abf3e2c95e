package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import dev.pgapply.schema.postgres.PostgresSession;
import java.sql.SQLException;
import java.time.Instant;

/// Ends on the target what the source has decided of its prepared transactions. The end and the progress are two
/// commits; what lies between them is found again by [PreparedTransactions].
final class PreparedDecisions {

    private static final int PG_LSN_OID = 3220;
    private static final int TIMESTAMPTZ_OID = 1184;
    private static final String UNDEFINED_OBJECT = "42704";

    private final PostgresTargetSession session;
    private final Pipeline pipeline;
    private final ProgressStore progressStore;
    private final PreparedTransactions prepared;
    private final PostgresSession catalog;

    PreparedDecisions(
            PostgresTargetSession session,
            Pipeline pipeline,
            ProgressStore progressStore,
            PreparedTransactions prepared,
            PostgresSession catalog) {
        this.session = session;
        this.pipeline = pipeline;
        this.progressStore = progressStore;
        this.prepared = prepared;
        this.catalog = catalog;
    }

    /// Commits what was prepared, and then the progress.
    void commit(TransactionEvent.CommitPrepared decided) throws SQLException {
        int xid = decided.xid();
        if (!end(xid, prepared.commitSql(xid), decided.endLsn(), decided.commitTime())
                && !prepared.isCommitted(catalog.connection(), xid)) {
            throw goneWith(xid, "rolled back", decided.commitLsn());
        }
        pipeline.simple("BEGIN");
        pipeline.simple(prepared.forgetSql(xid));
        session.finishWithProgress(decided.endLsn(), decided.commitTime());
        prepared.ended(xid);
    }

    /// Rolls back what was prepared, and then commits the progress.
    void rollBack(TransactionEvent.RollbackPrepared decided) throws SQLException {
        int xid = decided.xid();
        if (!end(xid, prepared.rollbackSql(xid), decided.rollbackEndLsn(), decided.rollbackTime())
                && prepared.isCommitted(catalog.connection(), xid)) {
            throw goneWith(xid, "committed", decided.rollbackEndLsn());
        }
        pipeline.simple("BEGIN");
        session.finishWithProgress(decided.rollbackEndLsn(), decided.rollbackTime());
        prepared.ended(xid);
    }

    /// @return whether it was prepared; if not, somebody has ended it, perhaps an earlier run of ours
    private boolean end(int xid, String sql, Lsn endLsn, Instant time) throws SQLException {
        if (!prepared.isPrepared(xid)) {
            return false;
        }
        try {
            end(sql, endLsn, time);
            return true;
        } catch (SQLException e) {
            if (!UNDEFINED_OBJECT.equals(e.getSQLState())) {
                throw e;
            }
            session.rollBack();
            prepared.ended(xid);
            return false;
        }
    }

    /// In a round of its own, since the server takes it in no other; the position and time go with its record.
    private void end(String sql, Lsn endLsn, Instant time) throws SQLException {
        if (progressStore.endsPreparedWith().isPresent()) {
            PreparedSql setUp =
                    pipeline.prepare(progressStore.endsPreparedWith().get(), PG_LSN_OID, TIMESTAMPTZ_OID);
            pipeline.bind(setUp, 2);
            pipeline.parameter(endLsn.toString());
            pipeline.parameter(ProgressStore.timestamp(time));
            pipeline.execute(Pipeline.NO_TAG);
            pipeline.close(setUp);
            pipeline.sync();
        }
        pipeline.simple(sql);
        pipeline.sync();
    }

    private ConflictStop goneWith(int xid, String how, Lsn lsn) {
        return new ConflictStop(
                "transaction " + prepared.gid(xid) + " was prepared on the target and somebody has " + how
                        + " it there, against what the source decided",
                how.equals("committed")
                        ? "Undo its changes on the target, then: " + prepared.forgetSql(xid) + ";"
                        : "Make its changes on the target, then: " + prepared.witnessSql(xid) + ";",
                null,
                lsn,
                null);
    }
}
