package dev.pgapply.schema.postgres;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// Where one PostgreSQL database is and how to log in: everything a connection needs but the secret itself.
///
/// @param hosts tried in this order; a host that begins with `/` is the folder of a Unix socket
/// @param database the database's name, unquoted
/// @param user the role to log in as
/// @param password asked anew for each connection, so that a rotated secret is picked up; empty where none is
///     needed. It may do a little file reading, and is called on the connecting thread
/// @param parameters further pgjdbc connection properties (`sslmode`, `sslrootcert`, `connectTimeout`,
///     `options`, …), never a password
public record PostgresEndpoint(
        List<Host> hosts,
        String database,
        String user,
        Supplier<Optional<String>> password,
        Map<String, String> parameters) {

    public PostgresEndpoint {
        if (hosts.isEmpty()) {
            throw new IllegalArgumentException("an endpoint needs a host");
        }
        hosts = List.copyOf(hosts);
        parameters = Map.copyOf(parameters);
    }

    /// One server address.
    public record Host(String name, int port) {
        @Override
        public String toString() {
            return name.contains(":") ? "[" + name + "]:" + port : name + ":" + port;
        }
    }

    /// For people and logs: `user@host:port/database`, no secret.
    @Override
    public String toString() {
        return user + "@" + String.join(",", hosts.stream().map(Host::toString).toList()) + "/" + database;
    }
}
