package dev.pgapply.apply.tablesync;

import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SessionProfile;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Collectors;

/// Keeps one snapshot of the source alive for a whole copy run, and the tables in it as they are: a rewrite of
/// a table between two reads would silently lose rows, so each is locked against it.
final class CopySnapshot implements AutoCloseable {

    private final PostgresSession session;
    private final String name;

    private CopySnapshot(PostgresSession session, String name) {
        this.session = session;
        this.name = name;
    }

    /// Takes over an exported snapshot and exports it again, so that the one who made it is free.
    static CopySnapshot hold(
            PostgresConnector source,
            SessionProfile profile,
            String exported,
            List<TableName> tables,
            SourceErrors errors) {
        PostgresSession session;
        try {
            session = source.open(profile);
        } catch (SchemaException e) {
            throw errors.translate(e);
        }
        try (Statement statement = session.connection().createStatement()) {
            statement.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
            statement.execute("SET TRANSACTION SNAPSHOT " + Quoting.literal(exported));
            if (!tables.isEmpty()) {
                statement.execute("LOCK TABLE "
                        + tables.stream().map(t -> "ONLY " + Quoting.table(t)).collect(Collectors.joining(", "))
                        + " IN ACCESS SHARE MODE");
            }
            try (ResultSet answer = statement.executeQuery("SELECT pg_catalog.pg_export_snapshot()")) {
                answer.next();
                return new CopySnapshot(session, answer.getString(1));
            }
        } catch (SQLException e) {
            session.close();
            throw errors.translate("holding the snapshot of the copy", tables, e);
        }
    }

    /// For `SET TRANSACTION SNAPSHOT`.
    String name() {
        return name;
    }

    @Override
    public void close() {
        session.close();
    }
}
