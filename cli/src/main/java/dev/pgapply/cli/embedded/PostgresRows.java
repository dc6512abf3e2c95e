package dev.pgapply.cli.embedded;

import dev.pgapply.decoder.TableName;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/// The rows of a PostgreSQL database, sorted by the server and read through COPY.
final class PostgresRows implements RowSource {

    private static final List<String> SETTINGS = List.of(
            "SET datestyle = ISO",
            "SET intervalstyle = postgres",
            "SET bytea_output = hex",
            "SET timezone = 'UTC'",
            "SET lc_monetary = 'C'",
            "SET client_encoding = 'UTF8'",
            "SET search_path = ''",
            "SET row_security = off",
            "SET statement_timeout = 0",
            "SET work_mem = '64MB'");

    /// How floating-point numbers become text. Version 12 changed the text form, so that the same number looks
    /// different on both sides of it.
    enum Floats {
        /// `extra_float_digits = 3`: exact between servers that are both older than 12, or both not.
        TEXT,
        /// Exact also between old and new for columns of the two float types; inside arrays and composite types
        /// only 15 (6) digits are compared.
        BYTES
    }

    private static final String TABLES = """
            SELECT n.nspname, c.relname
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
              AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'pgapply')
            ORDER BY 1, 2""";

    private static final String COLUMNS = """
            SELECT a.attname
            FROM pg_catalog.pg_attribute a
            JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = ? AND c.relname = ? AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum""";

    // Rows leave the server as hexadecimal bytea: it sorts like the bytes, COPY does not escape it, and bytes that are
    // no text in a SQL_ASCII database come through.
    private static final String ROWS = """
            SELECT format('COPY (SELECT convert_to(ROW(%s)::text, %L) FROM %s%s ORDER BY 1) TO STDOUT',
                (SELECT string_agg(CASE WHEN ? AND a.atttypid = 'float8'::regtype
                                        THEN format('encode(float8send(%I), ''hex'')', w.name)
                                        WHEN ? AND a.atttypid = 'float4'::regtype
                                        THEN format('encode(float4send(%I), ''hex'')', w.name)
                                        ELSE format('%I::text', w.name) END, ',' ORDER BY w.position)
                 FROM unnest(?::text[]) WITH ORDINALITY AS w(name, position)
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = w.name),
                CASE WHEN pg_catalog.current_setting('server_encoding') = 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END,
                CASE c.relkind WHEN 'r' THEN 'ONLY ' ELSE '' END,
                c.oid::regclass)
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = ? AND c.relname = ?""";

    private final Connection connection;
    private final Floats floats;

    PostgresRows(Connection connection, Floats floats) {
        this.connection = connection;
        this.floats = floats;
        try (Statement statement = connection.createStatement()) {
            for (String setting : SETTINGS) {
                statement.execute(setting);
            }
            statement.execute("SET extra_float_digits = " + (floats == Floats.TEXT ? 3 : 0));
        } catch (SQLException e) {
            throw new ServerException("cannot prepare the comparison", e);
        }
    }

    @Override
    public List<TableName> tables() {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(TABLES)) {
            List<TableName> tables = new ArrayList<>();
            while (rows.next()) {
                tables.add(new TableName(rows.getString(1), rows.getString(2)));
            }
            return tables;
        } catch (SQLException e) {
            throw new ServerException("cannot read the tables", e);
        }
    }

    @Override
    public List<String> columns(TableName table) {
        try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
            statement.setString(1, table.schema());
            statement.setString(2, table.name());
            try (ResultSet rows = statement.executeQuery()) {
                List<String> columns = new ArrayList<>();
                while (rows.next()) {
                    columns.add(rows.getString(1));
                }
                return columns;
            }
        } catch (SQLException e) {
            throw new ServerException("cannot read the columns of " + table, e);
        }
    }

    @Override
    public Rows rows(TableName table, List<String> columns) {
        try {
            CopyOut copy = connection.unwrap(PGConnection.class).getCopyAPI().copyOut(copyStatement(table, columns));
            return new CopiedRows(table, copy);
        } catch (SQLException e) {
            throw new ServerException("cannot read " + table, e);
        }
    }

    private String copyStatement(TableName table, List<String> columns) throws SQLException {
        Array names = connection.createArrayOf("text", columns.toArray());
        try (PreparedStatement statement = connection.prepareStatement(ROWS)) {
            statement.setBoolean(1, floats == Floats.BYTES);
            statement.setBoolean(2, floats == Floats.BYTES);
            statement.setArray(3, names);
            statement.setString(4, table.schema());
            statement.setString(5, table.name());
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new ServerException("there is no table " + table);
                }
                return rows.getString(1);
            }
        } finally {
            names.free();
        }
    }

    private record CopiedRows(TableName table, CopyOut copy) implements Rows {

        @Override
        public byte @Nullable [] next() {
            try {
                byte[] line = copy.readFromCopy();
                if (line == null) {
                    return null;
                }
                // \\x and then two digits a byte, and the line's end.
                String text = new String(line, StandardCharsets.ISO_8859_1);
                return HexFormat.of().parseHex(text, 3, text.length() - 1);
            } catch (SQLException e) {
                throw new ServerException("cannot read " + table, e);
            }
        }

        @Override
        public void close() {
            try {
                if (copy.isActive()) {
                    copy.cancelCopy();
                }
            } catch (SQLException e) {
                throw new ServerException("cannot end the reading of " + table, e);
            }
        }
    }
}
