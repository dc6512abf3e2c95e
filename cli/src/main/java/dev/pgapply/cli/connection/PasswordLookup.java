package dev.pgapply.cli.connection;

import dev.pgapply.schema.postgres.PostgresEndpoint.Host;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds the password anew for each connection: a file of its own, then what the string or the environment
/// gave, then `.pgpass`. A file that cannot be read gives none, with a warning: the server then says what it
/// thinks of that.
final class PasswordLookup implements Supplier<Optional<String>> {

    private static final Logger LOG = LoggerFactory.getLogger(PasswordLookup.class);

    private final Optional<Path> ownFile;
    private final Optional<String> fixed;
    private final PasswordFile passwordFile;
    private final List<Host> hosts;
    private final String database;
    private final String user;

    PasswordLookup(
            Optional<Path> ownFile,
            Optional<String> fixed,
            PasswordFile passwordFile,
            List<Host> hosts,
            String database,
            String user) {
        this.ownFile = ownFile;
        this.fixed = fixed;
        this.passwordFile = passwordFile;
        this.hosts = hosts;
        this.database = database;
        this.user = user;
    }

    @Override
    public Optional<String> get() {
        if (ownFile.isPresent()) {
            return read(ownFile.get());
        }
        return fixed.isPresent() ? fixed : passwordFile.find(hosts, database, user);
    }

    private static Optional<String> read(Path file) {
        try {
            String content = Files.readString(file, StandardCharsets.UTF_8);
            String password = content.endsWith("\n") ? content.substring(0, content.length() - 1) : content;
            return Optional.of(password.endsWith("\r") ? password.substring(0, password.length() - 1) : password);
        } catch (IOException e) {
            LOG.warn("password_file {} cannot be read: {}", file, e.getClass().getSimpleName());
            return Optional.empty();
        }
    }

    /// Where it looks, never what it found.
    @Override
    public String toString() {
        return ownFile.map(Path::toString).orElse(fixed.isPresent() ? "given" : passwordFile.toString());
    }
}
