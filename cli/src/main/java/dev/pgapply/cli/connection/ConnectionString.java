package dev.pgapply.cli.connection;

import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.PostgresEndpoint.Host;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Understands every way in which PostgreSQL users write down a database: `postgresql://` and `postgres://`
/// URIs, key words with values, `service=name`, and the driver's `jdbc:` URLs.
///
/// What the string leaves open comes from its service, then, for the source only, from the `PG*` variables
/// (there are two databases and one environment), then from `libpq`'s defaults. `.pgpass` and the service files
/// serve both sides.
public final class ConnectionString {

    private static final int DEFAULT_PORT = 5432;
    private static final int LARGEST_PORT = 65_535;
    private static final List<String> SCHEMES = List.of("postgresql://", "postgres://");
    private static final String JDBC = "jdbc:postgresql:";

    private final Given given;
    private final ProcessEnvironment environment;
    private final Optional<Path> ownPasswordFile;

    private ConnectionString(Given given, ProcessEnvironment environment, Optional<Path> ownPasswordFile) {
        this.given = given;
        this.environment = environment;
        this.ownPasswordFile = ownPasswordFile;
    }

    /// Which of the two databases a string is for.
    public enum Side {
        /// The `PG*` variables fill its gaps.
        SOURCE,
        /// Only `.pgpass` and the service files do.
        TARGET
    }

    /// A connection string that was understood.
    ///
    /// @param passwordInText the string holds the password itself: others can see it on a command line
    /// @param warnings what has no effect, each a sentence without values
    public record Resolved(PostgresEndpoint endpoint, boolean passwordInText, List<String> warnings) {}

    /// Reads a string and fills its gaps.
    ///
    /// @param ownPasswordFile holds nothing but the password, and wins over every other place
    /// @throws ConnectionException if it cannot be understood, or asks for what the driver cannot do
    public static Resolved resolve(
            String text, Side side, ProcessEnvironment environment, Optional<Path> ownPasswordFile) {
        List<String> warnings = new ArrayList<>();
        Given given = parse(text.strip(), warnings);
        boolean passwordInText = given.get(Keyword.PASSWORD).isPresent();
        given.get(Keyword.SERVICE)
                .or(() -> side == Side.SOURCE ? environment.variable("PGSERVICE") : Optional.empty())
                .ifPresent(
                        service -> given.fill(ServiceFile.find(service, given.get(Keyword.SERVICEFILE), environment)));
        if (side == Side.SOURCE) {
            fillFromVariables(given, environment);
        }
        PostgresEndpoint endpoint = new ConnectionString(given, environment, ownPasswordFile).endpoint();
        return new Resolved(endpoint, passwordInText, List.copyOf(warnings));
    }

    private static Given parse(String text, List<String> warnings) {
        for (String scheme : SCHEMES) {
            if (text.startsWith(scheme)) {
                return Uris.parse(text.substring(scheme.length()));
            }
        }
        if (text.startsWith(JDBC)) {
            return JdbcUrls.parse(text.substring(JDBC.length()), warnings);
        }
        int colon = text.indexOf(':');
        int equals = text.indexOf('=');
        if (!text.isEmpty() && (equals < 0 || (colon >= 0 && colon < equals))) {
            throw new ConnectionException(
                    "this is no connection string of a PostgreSQL database",
                    "Known forms: postgresql://user@host/db, 'host=… dbname=…', service=…, jdbc:postgresql://host/db");
        }
        return KeywordStrings.parse(text);
    }

    private static void fillFromVariables(Given given, ProcessEnvironment environment) {
        boolean ownHost = given.get(Keyword.HOST).isPresent();
        for (Keyword keyword : Keyword.values()) {
            // An address of the environment belongs to the host of the environment.
            if (keyword == Keyword.HOSTADDR && ownHost) {
                continue;
            }
            keyword.variable().flatMap(environment::variable).ifPresent(value -> given.fill(keyword, value));
        }
    }

    private PostgresEndpoint endpoint() {
        String user = given.get(Keyword.USER).orElse(environment.user());
        String database = given.get(Keyword.DBNAME).orElse(user);
        List<String> names = list(Keyword.HOST);
        List<String> addresses = list(Keyword.HOSTADDR);
        List<String> reached = addresses.isEmpty() ? names : addresses;
        if (!names.isEmpty() && names.size() != reached.size()) {
            throw new ConnectionException("host and hostaddr do not name equally many servers");
        }
        if (!names.isEmpty() && !addresses.isEmpty() && verifiesName()) {
            throw new ConnectionException(
                    "the server's name cannot be verified when hostaddr is given as well",
                    "Leave hostaddr out, or use sslmode=verify-ca.");
        }
        List<Host> hosts = hosts(reached.isEmpty() ? List.of("") : reached);
        List<Host> asWritten = names.isEmpty() ? hosts : hosts(names);
        Path passwordFile = given.get(Keyword.PASSFILE)
                .or(() -> environment.variable("PGPASSFILE"))
                .map(Path::of)
                .orElse(environment.home().resolve(".pgpass"));
        PasswordLookup password = new PasswordLookup(
                ownPasswordFile,
                given.get(Keyword.PASSWORD),
                new PasswordFile(passwordFile),
                asWritten,
                database,
                user);
        return new PostgresEndpoint(hosts, database, user, password, DriverProperties.of(given, environment.home()));
    }

    private boolean verifiesName() {
        return given.get(Keyword.SSLMODE).filter("verify-full"::equals).isPresent()
                || given.get(Keyword.SSLROOTCERT).filter("system"::equals).isPresent();
    }

    private List<Host> hosts(List<String> names) {
        List<String> ports = list(Keyword.PORT);
        if (ports.size() > 1 && ports.size() != names.size()) {
            throw new ConnectionException("there must be one port, or as many as hosts");
        }
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String port = ports.isEmpty() ? "" : ports.get(ports.size() == 1 ? 0 : i);
            hosts.add(new Host(hostName(names.get(i).strip()), port(port.strip())));
        }
        return hosts;
    }

    private static String hostName(String name) {
        if (name.startsWith("/") || name.startsWith("@")) {
            throw new ConnectionException(
                    "the host is a Unix socket, and connections are made by TCP only",
                    "Give the server's name; on the same machine host=localhost, with listen_addresses set there.");
        }
        boolean plausible = name.chars().allMatch(c -> Character.isLetterOrDigit(c) || ".-_:%".indexOf(c) >= 0);
        if (!plausible) {
            throw new ConnectionException(
                    "the host has characters that no host has",
                    "If they belong to the password: in a URI write @ as %40, / as %2F, a blank as %20.");
        }
        return name.isEmpty() ? "localhost" : name;
    }

    private static int port(String text) {
        if (text.isEmpty()) {
            return DEFAULT_PORT;
        }
        boolean digits = text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        int port = digits ? Integer.parseInt(text) : 0;
        if (port < 1 || port > LARGEST_PORT) {
            throw new ConnectionException(
                    "a port is a number from 1 to 65535",
                    "If it belongs to the password: in a URI write : as %3A, / as %2F, @ as %40.");
        }
        return port;
    }

    private List<String> list(Keyword keyword) {
        return given.get(keyword).map(value -> List.of(value.split(",", -1))).orElse(List.of());
    }
}
