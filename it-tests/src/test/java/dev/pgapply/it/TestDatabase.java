package dev.pgapply.it;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.ServerException;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.Quoting;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A database that belongs to one test, on a shared server. Everything runs as the superuser.
record TestDatabase(TestServer server, String name) implements AutoCloseable {

    Connection connect() {
        return server.connect(name);
    }

    /// Runs statements on one connection, each in a transaction of its own unless it is a script with its own.
    void execute(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new ServerException(e.getMessage() + " (" + name + ")", e);
        }
    }

    /// Runs statements in one transaction.
    void transaction(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (String sql : statements) {
                statement.execute(sql);
            }
            connection.commit();
        } catch (SQLException e) {
            throw new ServerException(e.getMessage() + " (" + name + ")", e);
        }
    }

    /// The first column of all rows, as text; `NULL` for SQL's NULL.
    List<String> queryAll(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                String value = rows.getString(1);
                values.add(value == null ? "NULL" : value);
            }
            return values;
        } catch (SQLException e) {
            throw new ServerException(e.getMessage() + " (" + name + ")", e);
        }
    }

    /// The rows of a table, or of what may stand behind FROM, as PostgreSQL's row text, in the order of that
    /// text.
    List<String> rows(String from) {
        return queryAll("SELECT whole_row::text FROM (SELECT * FROM " + from + ") AS whole_row"
                + " ORDER BY whole_row::text COLLATE \"C\"");
    }

    /// The first column of the first row, as text; empty without a row.
    Optional<String> query(String sql) {
        return queryAll(sql).stream().findFirst();
    }

    long count(String table) {
        return Long.parseLong(query("SELECT count(*) FROM " + table).orElseThrow());
    }

    /// The end of the WAL that is on disk: at least the end of every transaction committed before this call, also
    /// of those that did not wait for their commit to be on disk, as a subscription's do not.
    Lsn flushLsn() {
        if (!query("SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn()")
                .equals(Optional.of("t"))) {
            query("SELECT pg_logical_emit_message(true, 'pgapply_test', 'a commit that waits')");
        }
        return Lsn.parse(query("SELECT pg_current_wal_flush_lsn()").orElseThrow());
    }

    PostgresEndpoint endpoint() {
        String password = server.password();
        return new PostgresEndpoint(
                List.of(new PostgresEndpoint.Host(server.host(), server.port())),
                name,
                PostgresServer.SUPERUSER,
                () -> Optional.of(password).filter(secret -> !secret.isEmpty()),
                Map.of());
    }

    /// libpq URI, with the password where one is needed.
    String uri() {
        String login = server.password().isEmpty()
                ? PostgresServer.SUPERUSER
                : PostgresServer.SUPERUSER + ":" + server.password();
        return "postgresql://" + login + "@" + server.host() + ":" + server.port() + "/" + name;
    }

    /// What is prepared here and not ended, as `pg_prepared_xacts` calls it.
    List<String> preparedTransactions() {
        return queryAll("SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY prepared");
    }

    /// Ends all prepared transactions and all sessions of the database, drops its slots and itself.
    @Override
    public void close() {
        preparedTransactions().forEach(gid -> execute("ROLLBACK PREPARED " + Quoting.literal(gid)));
        TestDatabase maintenance = new TestDatabase(server, "postgres");
        maintenance.execute("UPDATE pg_database SET datallowconn = false WHERE datname = '" + name + "'");
        Await.until("all sessions of " + name + " have ended", () -> {
            maintenance.queryAll("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name
                    + "' AND backend_type <> 'autovacuum worker'");
            return maintenance
                    .query("SELECT count(*) FROM pg_stat_activity WHERE datname = '" + name + "'")
                    .equals(Optional.of("0"));
        });
        maintenance.queryAll(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = '" + name + "'");
        maintenance.execute("DROP DATABASE " + name);
    }
}
