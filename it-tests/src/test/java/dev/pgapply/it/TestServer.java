package dev.pgapply.it;

import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;

/// A running server that many tests share, each with a database of its own.
sealed interface TestServer permits TestServer.Embedded, TestServer.Container {

    AtomicInteger DATABASES = new AtomicInteger();

    String host();

    int port();

    /// The superuser's password; empty where none is needed.
    String password();

    /// `server_version_num`.
    int version();

    /// A new, empty UTF8 database.
    default TestDatabase database() {
        return database("");
    }

    /// A new database.
    ///
    /// @param options what follows its name in CREATE DATABASE: `TEMPLATE template0 ENCODING 'LATIN1'`
    default TestDatabase database(String options) {
        String name = "test_" + DATABASES.incrementAndGet();
        TestDatabase maintenance = new TestDatabase(this, "postgres");
        maintenance.execute("CREATE DATABASE " + name + " " + options);
        return new TestDatabase(this, name);
    }

    /// A new connection of the superuser.
    Connection connect(String database);

    /// From the binaries, on this machine.
    record Embedded(dev.pgapply.cli.embedded.PostgresServer server) implements TestServer {
        @Override
        public String host() {
            return "127.0.0.1";
        }

        @Override
        public int port() {
            return server.port();
        }

        @Override
        public String password() {
            return "";
        }

        @Override
        public int version() {
            return server.version();
        }

        @Override
        public Connection connect(String database) {
            return server.connect(database);
        }
    }

    /// From an image, in a container.
    record Container(String host, int port, String password, int version) implements TestServer {
        @Override
        public Connection connect(String database) {
            return ContainerServers.connect(host, port, database, password);
        }
    }
}
