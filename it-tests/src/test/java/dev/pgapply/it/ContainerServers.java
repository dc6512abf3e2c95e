package dev.pgapply.it;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.ServerException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/// Servers from the official images, with the same settings as the embedded ones. They end with this JVM.
final class ContainerServers {

    private ContainerServers() {}

    static boolean areReachable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    @SuppressWarnings("resource") // Testcontainers removes the container when this JVM has ended.
    static TestServer start(int major) {
        List<String> command = new ArrayList<>(List.of("postgres"));
        PostgresServer.defaultSettings(major).forEach((name, value) -> {
            command.add("-c");
            command.add(name + "=" + value);
        });
        PostgreSQLContainer container = new PostgreSQLContainer(DockerImageName.parse("postgres:" + major))
                .withUsername(PostgresServer.SUPERUSER)
                .withEnv("POSTGRES_INITDB_ARGS", "--encoding=UTF8 --locale=C");
        container.setCommand(command.toArray(String[]::new));
        container.start();
        int port = container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT);
        try (Connection connection = connect(container.getHost(), port, "postgres", container.getPassword());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW server_version_num")) {
            rows.next();
            return new TestServer.Container(container.getHost(), port, container.getPassword(), rows.getInt(1));
        } catch (SQLException e) {
            throw new ServerException("cannot ask the container", e);
        }
    }

    static Connection connect(String host, int port, String database, String password) {
        try {
            return DriverManager.getConnection(
                    "jdbc:postgresql://" + host + ":" + port + "/" + database, PostgresServer.SUPERUSER, password);
        } catch (SQLException e) {
            throw new ServerException("cannot connect to " + database + " on port " + port, e);
        }
    }
}
