package dev.pgapply.it;

import dev.pgapply.cli.embedded.PostgresServer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The servers of the whole test run: one for each major version and role, started when it is first asked for,
/// ended with this JVM. Embedded ones, or containers where `-Dpgapply.servers=testcontainers` is given and
/// Docker is there.
///
/// A test that crashes or stops a server starts one of its own with [PostgresServer#major].
final class TestServers {

    /// The version of tests that need only one.
    static final int NEWEST = 18;

    private enum Role {
        SOURCE,
        TARGET
    }

    private record Key(Role role, int major) {}

    private static final Map<Key, TestServer> SERVERS = new HashMap<>();

    private TestServers() {}

    static TestServer source(int major) {
        return server(new Key(Role.SOURCE, major));
    }

    static TestServer target(int major) {
        return server(new Key(Role.TARGET, major));
    }

    /// Every major version that there are binaries of, oldest first.
    static List<Integer> majors() {
        return PostgresServer.majors(PostgresServer.jars());
    }

    private static synchronized TestServer server(Key key) {
        return SERVERS.computeIfAbsent(
                key,
                missing -> inContainers()
                        ? ContainerServers.start(missing.major())
                        : new TestServer.Embedded(
                                PostgresServer.major(missing.major()).start()));
    }

    private static boolean inContainers() {
        if (!System.getProperty("pgapply.servers", "embedded").equals("testcontainers")) {
            return false;
        }
        boolean reachable = ContainerServers.areReachable();
        if (!reachable) {
            System.err.println("No Docker engine is reachable: the tests use embedded servers.");
        }
        return reachable;
    }
}
