package dev.pgapply.it;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// One server per major version for all test classes that only need databases of their own. It runs until the
/// JVM ends.
final class SharedServer {

    private static final Map<Integer, SharedServer> RUNNING = new ConcurrentHashMap<>();
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private final PostgresServer server;

    private SharedServer(PostgresServer server) {
        this.server = server;
    }

    static SharedServer of(int major) {
        return RUNNING.computeIfAbsent(
                major, version -> new SharedServer(PostgresServer.major(version).start()));
    }

    /// Every major version there is a jar of.
    static List<Integer> majors() {
        return PostgresServer.majors(PostgresServer.jars());
    }

    /// The oldest, the newest, and those between at which the catalogs changed most.
    static List<Integer> someMajors() {
        return majors().stream().filter(List.of(10, 13, 15, 18)::contains).toList();
    }

    /// A new database with what these statements create in it.
    Database database(String... statements) {
        return database("", statements);
    }

    /// A new database with options of `CREATE DATABASE`.
    Database database(String options, String[] statements) {
        String name = "d" + DATABASES.incrementAndGet();
        server.execute("postgres", "CREATE DATABASE " + name + " TEMPLATE template0 " + options);
        server.execute(name, statements);
        return new Database(server, name);
    }

    /// A database of a shared server.
    record Database(PostgresServer server, String name) {

        void execute(String... statements) {
            server.execute(name, statements);
        }

        Optional<String> query(String sql) {
            return server.query(name, sql);
        }

        PostgresEndpoint endpoint(String user) {
            PostgresEndpoint superuser = server.endpoint(name);
            return new PostgresEndpoint(superuser.hosts(), name, user, Optional::empty, Map.of());
        }

        PostgresSession open(SessionProfile profile) {
            return open(PostgresServer.SUPERUSER, profile);
        }

        PostgresSession open(String user, SessionProfile profile) {
            return connector(user).open(profile);
        }

        PostgresConnector connector(String user) {
            return new PostgresConnector(endpoint(user), "pgapply/test");
        }
    }
}
