package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/// The schema and the first rows of the shop.
final class Shop {

    static final String DATABASE = "shop";

    /// Partitions are counted through their root.
    private static final String TABLES = """
            SELECT format('%I.%I', n.nspname, c.relname)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'shop' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            ORDER BY 1""";

    private Shop() {}

    /// What a database holds.
    record Size(int tables, long rows, long bytes) {}

    /// Creates the database and its empty tables.
    static void createTables(PostgresServer server) {
        server.execute("postgres", "CREATE DATABASE " + DATABASE);
        server.execute(DATABASE, script("schema.sql"));
    }

    /// Writes the shop's history.
    static void fill(PostgresServer server) {
        server.execute(DATABASE, script("rows.sql"), "ANALYZE");
    }

    /// Counts every row.
    static Size size(Connection connection) throws SQLException {
        List<String> tables = tables(connection);
        long rows = 0;
        try (Statement statement = connection.createStatement()) {
            for (String table : tables) {
                rows += number(statement, "SELECT count(*) FROM " + table);
            }
            return new Size(tables.size(), rows, number(statement, "SELECT pg_database_size(current_database())"));
        }
    }

    private static List<String> tables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(TABLES)) {
            List<String> tables = new ArrayList<>();
            while (rows.next()) {
                tables.add(rows.getString(1));
            }
            return tables;
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static String script(String name) {
        try (InputStream in = Shop.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
