package dev.pgapply.cli.connection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Connection service files: sections with connection parameters.
///
/// @see <a href="https://www.postgresql.org/docs/current/libpq-pgservice.html">The Connection Service File</a>
final class ServiceFile {

    private ServiceFile() {}

    /// Looks the service up in the user's file, then in the system's. `PGSERVICEFILE` replaces the user's file
    /// and must exist; `PGSYSCONFDIR` is the folder of the system's.
    ///
    /// @throws ConnectionException if no file has the service, or the section cannot be read
    static Given find(String service, Optional<String> file, ProcessEnvironment environment) {
        Optional<Path> named =
                file.or(() -> environment.variable("PGSERVICEFILE")).map(Path::of);
        if (named.isPresent() && !Files.exists(named.get())) {
            throw new ConnectionException("service file " + named.get() + " does not exist");
        }
        List<Path> places = new ArrayList<>();
        places.add(named.orElse(environment.home().resolve(".pg_service.conf")));
        environment
                .variable("PGSYSCONFDIR")
                .map(Path::of)
                .ifPresent(folder -> places.add(folder.resolve("pg_service.conf")));
        for (Path place : places) {
            if (Files.exists(place)) {
                Optional<Given> section = section(service, place);
                if (section.isPresent()) {
                    return section.get();
                }
            }
        }
        throw new ConnectionException("no definition of the service in "
                + String.join(", ", places.stream().map(Path::toString).toList()));
    }

    private static Optional<Given> section(String service, Path file) {
        Given given = new Given();
        boolean inside = false;
        int number = 0;
        for (String raw : lines(file)) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("[")) {
                if (inside) {
                    return Optional.of(given);
                }
                inside = line.equals("[" + service + "]");
            } else if (inside) {
                put(given, line, file + ", line " + number);
            }
        }
        return inside ? Optional.of(given) : Optional.empty();
    }

    private static void put(Given given, String line, String where) {
        int equals = line.indexOf('=');
        if (line.startsWith("ldap") || equals < 1) {
            throw new ConnectionException(where + ": expected parameter=value (LDAP look-ups are not supported)");
        }
        String name = line.substring(0, equals);
        if (name.equals("service") || name.equals("servicefile")) {
            throw new ConnectionException(where + ": a service cannot refer to another one");
        }
        try {
            given.putNamed(name, line.substring(equals + 1));
        } catch (ConnectionException e) {
            throw new ConnectionException(where + ": " + e.getMessage(), e.hint());
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new ConnectionException(
                    "service file " + file + " cannot be read: " + e.getClass().getSimpleName());
        }
    }
}
