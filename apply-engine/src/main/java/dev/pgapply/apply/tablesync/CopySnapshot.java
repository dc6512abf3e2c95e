package dev.pgapply.apply.tablesync;

import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SessionProfile;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Collectors;

/// Keeps one snapshot of the source alive for a whole copy run, and the tables in it as they are: a rewrite of
/// a table between two reads would silently lose rows, so each is locked against it.
///
/// Whoever waits to change such a table (`TRUNCATE`, `ALTER TABLE`) has to wait for the end of the copy, and
/// every other reader of the table behind them: the readers too for whose end that lock is held, which no server
/// can see. So a reader never waits for a lock; what it cannot get at once is read in the session that holds it.
final class CopySnapshot implements AutoCloseable {

    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final String BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

    private final PostgresSession session;
    private final SourceErrors errors;
    private String name = "";

    private CopySnapshot(PostgresSession session, SourceErrors errors) {
        this.session = session;
        this.errors = errors;
    }

    static CopySnapshot open(PostgresConnector source, SessionProfile profile, SourceErrors errors) {
        try {
            return new CopySnapshot(source.open(profile), errors);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
    }

    /// Takes over an exported snapshot and exports it again, so that the one who made it is free. Waits for
    /// those who are changing one of the tables.
    void hold(String exported, List<CopyJob> jobs) {
        List<TableName> tables = jobs.stream().map(CopyJob::table).toList();
        try (Statement statement = session.connection().createStatement()) {
            statement.execute(BEGIN);
            statement.execute("SET TRANSACTION SNAPSHOT " + Quoting.literal(exported));
            if (!jobs.isEmpty()) {
                statement.execute(lock(jobs));
            }
            try (ResultSet answer = statement.executeQuery("SELECT pg_catalog.pg_export_snapshot()")) {
                answer.next();
                name = answer.getString(1);
            }
        } catch (SQLException e) {
            throw errors.translate("holding the snapshot of the copy", tables, e);
        }
    }

    private static String lock(List<CopyJob> jobs) {
        return "LOCK TABLE "
                + jobs.stream()
                        .map(job -> (job.partitioned() ? "" : "ONLY ") + Quoting.table(job.table()))
                        .collect(Collectors.joining(", "))
                + " IN ACCESS SHARE MODE";
    }

    /// Begins a transaction with the snapshot in another session of the source, for one table.
    ///
    /// @return false, and no transaction, if somebody waits to change the table
    boolean begin(Connection reader, CopyJob job) {
        try (Statement statement = reader.createStatement()) {
            statement.execute(BEGIN);
            statement.execute("SET TRANSACTION SNAPSHOT " + Quoting.literal(name));
            try {
                statement.execute(lock(List.of(job)) + " NOWAIT");
                return true;
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
                statement.execute("ROLLBACK");
                return false;
            }
        } catch (SQLException e) {
            throw errors.translate("reading table " + job.table(), List.of(job.table()), e);
        }
    }

    /// Ends such a transaction.
    void end(Connection reader) {
        try (Statement statement = reader.createStatement()) {
            statement.execute("COMMIT");
        } catch (SQLException e) {
            throw errors.translate("ending the copy's snapshot", e);
        }
    }

    /// The session that holds snapshot and locks, in its transaction.
    Connection holder() {
        return session.connection();
    }

    @Override
    public void close() {
        session.close();
    }
}
