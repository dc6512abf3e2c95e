package dev.pgapply.cli.embedded;

import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A real PostgreSQL server of any major version from 10 on, in a temporary folder, on a free port of
/// 127.0.0.1. It can be crashed and started again on the same data. It ends with this JVM, however that ends,
/// and its data with it.
///
/// ```java
/// try (var server = PostgresServer.major(17).setting("wal_keep_size", "64MB").start()) {
///     server.execute("postgres", "CREATE DATABASE shop");
/// }
/// ```
///
/// Every server has a system identifier of its own. Databases are UTF8 with locale C; others can be created
/// from `template0`. The lifecycle methods belong to one thread at a time, everything else may be called by
/// any.
public final class PostgresServer implements AutoCloseable {

    /// The superuser, created by initdb.
    public static final String SUPERUSER = "postgres";

    private static final int START_SECONDS = 60;

    private final ServerBinaries binaries;
    private final ServerFolder folder;
    private final @Nullable String password;
    private final Map<String, String> settings;

    private volatile int port;
    private volatile int version;
    private final Postmaster postmaster;
    private boolean detached;

    private PostgresServer(Builder builder) throws IOException {
        this.binaries = ServerBinaries.of(builder.major, builder.jars);
        this.folder = ServerFolder.create(builder.parent, "pgapply-postgres-" + builder.major + "-");
        this.postmaster = new Postmaster(binaries, folder);
        this.password = builder.password;
        this.settings = new LinkedHashMap<>(builder.settings);
    }

    /// Begins the description of a server.
    ///
    /// @param major 10 to 18, as far as there is a jar of it
    public static Builder major(int major) {
        return new Builder(major);
    }

    /// The major versions that can be started from a folder of server jars, oldest first.
    public static List<Integer> majors(Path jars) {
        try (var files = Files.list(jars)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("postgres-\\d+\\.jar"))
                    .map(name -> Integer.valueOf(name.replaceAll("\\D", "")))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Where the jars of the servers are: system property `pgapply.servers.dir`, else `servers` beside the
    /// running jar.
    public static Path jars() {
        return ServerBinaries.jars();
    }

    /// What servers are started with unless told otherwise: everything that replication needs, and no fsync.
    public static Map<String, String> defaultSettings(int major) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("wal_level", "logical");
        settings.put("max_prepared_transactions", "20");
        settings.put("max_replication_slots", "30");
        settings.put("max_wal_senders", "30");
        settings.put("max_connections", "100");
        settings.put("synchronous_commit", "on");
        settings.put("fsync", "off");
        settings.put("timezone", "UTC");
        settings.put("log_timezone", "UTC");
        if (major >= 18) {
            settings.put("max_active_replication_origins", "30");
        }
        return settings;
    }

    /// What a server is started with.
    public static final class Builder {
        private final int major;
        private final Map<String, String> settings;
        private Path jars = ServerBinaries.jars();
        private Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        private String authentication = "trust";
        private @Nullable String password;
        private boolean ssl;

        private Builder(int major) {
            this.major = major;
            this.settings = new LinkedHashMap<>(defaultSettings(major));
        }

        /// The folder of the jars, where it is not that of [PostgresServer#jars()].
        public Builder jars(Path folder) {
            jars = folder;
            return this;
        }

        /// The folder in which the server's own folder is created; the system's temporary one by default.
        /// Everybody must be allowed to pass through it where this runs as root without user namespaces.
        public Builder parent(Path folder) {
            parent = folder;
            return this;
        }

        /// A setting of `postgresql.conf`, beside or instead of the [default
        /// ones](PostgresServer#defaultSettings).
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /// How clients log in (`scram-sha-256`, `md5`, `password`), and the superuser's password; `trust` by
        /// default.
        public Builder authentication(String method, String superuserPassword) {
            authentication = method;
            password = superuserPassword;
            return this;
        }

        /// TLS with a self-signed certificate for `localhost`.
        public Builder ssl() {
            ssl = true;
            return this;
        }

        /// Creates the data and starts the server; returns when it accepts connections.
        public PostgresServer start() {
            try {
                PostgresServer server = new PostgresServer(this);
                try {
                    server.create(authentication, ssl);
                    return server;
                } catch (RuntimeException | IOException e) {
                    server.close();
                    throw e;
                }
            } catch (IOException e) {
                throw new UncheckedIOException("cannot start PostgreSQL " + major, e);
            }
        }
    }

    private void create(String authentication, boolean ssl) throws IOException {
        OperatingSystem.run(OperatingSystem.unprivileged(List.of(
                binaries.program("initdb").toString(),
                "-D",
                folder.data().toString(),
                "-A",
                "trust",
                "-U",
                SUPERUSER,
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync")));
        if (ssl) {
            settings.putAll(SelfSignedCertificate.create(folder));
        }
        folder.includeSettings();
        startAgain();
        if (password != null) {
            setPassword(authentication, password);
        }
    }

    private void setPassword(String authentication, String secret) throws IOException {
        // The server is still open to everybody on this machine, so the first log-in needs no password.
        String encryption = authentication.equals("scram-sha-256") ? authentication : "md5";
        execute(
                "postgres",
                "SET password_encryption = '" + encryption + "'",
                "DO $do$ BEGIN EXECUTE format('ALTER ROLE " + SUPERUSER + " PASSWORD %L', '" + secret.replace("'", "''")
                        + "'); END $do$");
        settings.put("password_encryption", encryption);
        hostBasedAuthentication(
                "local all all " + authentication,
                "host all all 127.0.0.1/32 " + authentication,
                "host replication all 127.0.0.1/32 " + authentication);
    }

    /// Starts the stopped or killed server on its data and its port; returns when it accepts connections, that
    /// is, after recovery.
    public void startAgain() {
        if (postmaster.isRunning()) {
            return;
        }
        boolean first = port == 0;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        try {
            while (true) {
                if (first) {
                    port = FreePort.next();
                }
                long logStart = folder.logSize();
                folder.writeSettings(settings);
                if (postmaster.launch(port)) {
                    version = Integer.parseInt(queryText("postgres", "SHOW server_version_num"));
                    return;
                }
                String log = folder.logFrom(logStart);
                boolean portTaken = first && log.contains("could not bind");
                // Old backends may hold the shared memory for a moment after their postmaster is gone.
                boolean stillHeld = log.contains("shared memory block") || log.contains("lock file");
                if ((!portTaken && !stillHeld) || System.nanoTime() > deadline) {
                    throw new ServerException("PostgreSQL " + binaries.major() + " does not start: " + log);
                }
                TimeUnit.MILLISECONDS.sleep(50);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw OperatingSystem.interrupted(e);
        }
    }

    /// Kills the whole server, postmaster and backends, with SIGKILL and returns when nothing of it is left.
    public void kill() {
        postmaster.kill();
    }

    /// Fast shutdown: rolls back what is open, sends what is left to replication clients, writes a checkpoint.
    public void stopFast() {
        postmaster.stop("INT");
    }

    /// Immediate shutdown: no checkpoint; the next start recovers.
    public void stopImmediate() {
        postmaster.stop("QUIT");
    }

    /// Fast shutdown and start.
    public void restart() {
        stopFast();
        startAgain();
    }

    public boolean isRunning() {
        return postmaster.isRunning();
    }

    /// Changes a setting for [#reload()] or the next start.
    public void set(String name, String value) {
        settings.put(name, value);
    }

    /// Makes the running server read its settings and `pg_hba.conf`; new connections see them afterwards.
    public void reload() {
        try {
            folder.writeSettings(settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String before = queryText("postgres", "SELECT pg_conf_load_time()::text");
        postmaster.running().signal("HUP");
        OperatingSystem.waitUntil(
                () -> !queryText("postgres", "SELECT pg_conf_load_time()::text").equals(before),
                "the settings are not read");
    }

    /// Replaces `pg_hba.conf` and reloads.
    public void hostBasedAuthentication(String... lines) {
        try {
            Files.write(folder.data().resolve("pg_hba.conf"), List.of(lines), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        reload();
    }

    /// `server_version_num`: 180006 is 18.6.
    public int version() {
        return version;
    }

    public int port() {
        return port;
    }

    /// Process id of the postmaster.
    public long pid() {
        return postmaster.running().pid();
    }

    public Path dataFolder() {
        return folder.data();
    }

    /// The folder that holds everything of this server: data, log, socket.
    public Path folder() {
        return folder.root();
    }

    public Path logFile() {
        return folder.log();
    }

    /// `jdbc:` URL of a database, without user and password.
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/"
                + java.net.URLEncoder.encode(database, StandardCharsets.UTF_8);
    }

    /// libpq URI of a database with the superuser, without a password.
    public String uri(String database) {
        return "postgresql://" + SUPERUSER + "@127.0.0.1:" + port + "/"
                + java.net.URLEncoder.encode(database, StandardCharsets.UTF_8);
    }

    /// A database as the superuser sees it, password included.
    public PostgresEndpoint endpoint(String database) {
        return new PostgresEndpoint(
                List.of(new PostgresEndpoint.Host("127.0.0.1", port)),
                database,
                SUPERUSER,
                () -> Optional.ofNullable(password),
                Map.of());
    }

    /// A new connection of the superuser.
    public Connection connect(String database) {
        try {
            Properties properties = new Properties();
            properties.setProperty("user", SUPERUSER);
            properties.setProperty("password", password == null ? "" : password);
            properties.setProperty("connectTimeout", "10");
            return DriverManager.getConnection(jdbcUrl(database), properties);
        } catch (SQLException e) {
            throw new ServerException("cannot connect to " + database + " on port " + port, e);
        }
    }

    /// Runs statements as the superuser, each in a transaction of its own.
    public void execute(String database, String... statements) {
        try (Connection connection = connect(database);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new ServerException(e.getMessage() + " (" + database + " on port " + port + ")", e);
        }
    }

    /// The first column of the first row, as text; empty without a row or with NULL.
    public Optional<String> query(String database, String sql) {
        try (Connection connection = connect(database);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
        } catch (SQLException e) {
            throw new ServerException(e.getMessage() + " (" + database + " on port " + port + ")", e);
        }
    }

    private String queryText(String database, String sql) {
        return query(database, sql).orElseThrow();
    }

    /// Lets the server run on when this object is closed or the JVM ends; its folder stays too.
    public void leaveRunning() {
        detached = true;
        postmaster.running().leaveRunning();
    }

    /// Stops the server at once and deletes its data, unless it was left running. May be called twice.
    @Override
    public void close() {
        if (!detached) {
            kill();
            OperatingSystem.deleteTree(folder.root());
        }
    }

    @Override
    public String toString() {
        return "PostgreSQL " + binaries.major() + " on port " + port
                + settings.entrySet().stream().map(Object::toString).collect(Collectors.joining(", ", " (", ")"));
    }
}
