package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Which tables of a source receive rows from elsewhere themselves: by a subscription of the server's own or by
/// a run of this program. A copy takes such rows along, since a stored row does not tell where it came from.
public final class ReceivedTables {

    // A partition that is received concerns its root, and a root its partitions.
    private static final String QUERY = """
            WITH RECURSIVE wanted AS (
              SELECT c.oid, n.nspname, c.relname FROM unnest(?::text[], ?::text[]) AS w(schema, name)
                JOIN pg_namespace n ON n.nspname = w.schema::name
                JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name::name
            ), up(oid, relative) AS (
              SELECT oid, oid FROM wanted
              UNION
              SELECT u.oid, i.inhparent FROM up u
                JOIN pg_class p ON p.oid = u.relative AND p.relispartition
                JOIN pg_inherits i ON i.inhrelid = u.relative
            ), down(oid, relative) AS (
              SELECT oid, oid FROM wanted
              UNION
              SELECT d.oid, i.inhrelid FROM down d
                JOIN pg_inherits i ON i.inhparent = d.relative
                JOIN pg_class p ON p.oid = i.inhrelid AND p.relispartition
            ), received(oid) AS (
              SELECT srrelid FROM pg_subscription_rel {ours}
            )
            SELECT w.nspname, w.relname FROM wanted w
            WHERE EXISTS (SELECT FROM (SELECT * FROM up UNION SELECT * FROM down) f
              JOIN received r ON r.oid = f.relative WHERE f.oid = w.oid)
            ORDER BY 1, 2
            """;

    private static final String OURS = """
            UNION
              SELECT c.oid FROM pgapply.table_state s
                JOIN pg_namespace n ON n.nspname = s.schema_name::name
                JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.table_name::name
              WHERE s.state <> 'STOPPED'
            """;

    private static final String READABLE = """
            SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'pgapply' AND c.relname = 'table_state'
              AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
            """;

    private ReceivedTables() {}

    /// Those among the tables, sorted by name. What the role may not see is left out.
    public static List<TableName> among(PostgresSession source, Collection<TableName> tables) {
        Connection connection = source.connection();
        try (PreparedStatement statement =
                connection.prepareStatement(QUERY.replace("{ours}", isReadable(connection) ? OURS : ""))) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::schema).toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::name).toArray()));
            List<TableName> received = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    received.add(new TableName(row.getString(1), row.getString(2)));
                }
            }
            return received;
        } catch (SQLException e) {
            throw SqlFailure.during("asking which tables the source receives itself", e);
        }
    }

    private static boolean isReadable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READABLE)) {
            return row.next();
        }
    }
}
