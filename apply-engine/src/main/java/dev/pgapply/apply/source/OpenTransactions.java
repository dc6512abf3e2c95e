package dev.pgapply.apply.source;

import dev.pgapply.schema.postgres.PostgresSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/// The transactions of a source that are open or prepared: the making of a slot waits for them.
public final class OpenTransactions {

    private static final String SQL = """
            SELECT 'server process ' || pid || ' (' || coalesce(nullif(application_name, ''), usename::text, '?')
              || ', open since ' || xact_start || ')'
            FROM pg_catalog.pg_stat_activity
            WHERE backend_xid IS NOT NULL AND pid <> pg_catalog.pg_backend_pid()
            UNION ALL
            SELECT 'prepared transaction ' || gid || ' (since ' || prepared || ')' FROM pg_catalog.pg_prepared_xacts
            """;

    private OpenTransactions() {}

    /// One line each, for people.
    public static List<String> of(PostgresSession session, SourceErrors errors) {
        List<String> open = new ArrayList<>();
        try (Statement query = session.connection().createStatement();
                ResultSet row = query.executeQuery(SQL)) {
            while (row.next()) {
                open.add(row.getString(1));
            }
            return open;
        } catch (SQLException e) {
            throw errors.translate("looking for open transactions", e);
        }
    }
}
