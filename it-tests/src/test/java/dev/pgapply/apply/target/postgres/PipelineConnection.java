package dev.pgapply.apply.target.postgres;

import dev.pgapply.cli.embedded.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.postgresql.PGConnection;

/// A driver's connection and the pipeline on it.
record PipelineConnection(Connection connection, Pipeline pipeline) implements AutoCloseable {

    static PipelineConnection open(PostgresServer server, Map<String, String> parameters) throws SQLException {
        return open("127.0.0.1:" + server.port(), parameters);
    }

    static PipelineConnection open(String hosts, Map<String, String> parameters) throws SQLException {
        Map<String, String> all = new HashMap<>(parameters);
        all.putIfAbsent("user", PostgresServer.SUPERUSER);
        try (PipelineSockets sockets = new PipelineSockets(all)) {
            Properties properties = new Properties();
            properties.putAll(all);
            properties.putAll(sockets.properties());
            Connection connection = DriverManager.getConnection("jdbc:postgresql://" + hosts + "/postgres", properties);
            return new PipelineConnection(connection, Pipeline.take(connection, sockets));
        }
    }

    void execute(String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    String query(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    int pid() throws SQLException {
        return connection.unwrap(PGConnection.class).getBackendPID();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
