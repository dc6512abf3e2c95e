package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Asks whether a session's role may do what is planned with tables. Belongs to the connection's thread.
public final class TablePrivileges {

    private static final String LACKING = """
            SELECT n.nspname, c.relname
            FROM unnest(?::text[], ?::text[]) AS wanted (schema, name)
              JOIN pg_catalog.pg_namespace n ON n.nspname = wanted.schema
              JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted.name
            WHERE NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE')
              OR NOT (SELECT bool_and(pg_catalog.has_table_privilege(c.oid, privilege)) FROM unnest(?::text[]) AS privilege)
            ORDER BY 1, 2
            """;

    private final PostgresSession session;

    public TablePrivileges(PostgresSession session) {
        this.session = session;
    }

    /// Those of the tables on which the role lacks at least one of these privileges (`SELECT`, `INSERT`), or
    /// whose schema it may not use; those that do not exist are left out.
    public List<TableName> lacking(Collection<TableName> tables, String... privileges) {
        Connection connection = session.connection();
        try (PreparedStatement query = connection.prepareStatement(LACKING)) {
            query.setArray(
                    1,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::schema).toArray()));
            query.setArray(
                    2,
                    connection.createArrayOf(
                            "text", tables.stream().map(TableName::name).toArray()));
            query.setArray(3, connection.createArrayOf("text", privileges));
            try (ResultSet row = query.executeQuery()) {
                List<TableName> lacking = new ArrayList<>();
                while (row.next()) {
                    lacking.add(new TableName(row.getString(1), row.getString(2)));
                }
                return lacking;
            }
        } catch (SQLException e) {
            throw SqlFailure.during("reading privileges", e);
        }
    }

    /// The statements that give them, one a line.
    public static String grants(Collection<TableName> tables, String role, String... privileges) {
        List<String> statements = new ArrayList<>();
        String to = " TO " + Quoting.identifier(role) + ";";
        tables.stream()
                .map(TableName::schema)
                .filter(schema -> !schema.equals("public"))
                .distinct()
                .forEach(schema -> statements.add("GRANT USAGE ON SCHEMA " + Quoting.identifier(schema) + to));
        tables.forEach(table ->
                statements.add("GRANT " + String.join(", ", privileges) + " ON TABLE " + Quoting.table(table) + to));
        return String.join("\n", statements);
    }
}
