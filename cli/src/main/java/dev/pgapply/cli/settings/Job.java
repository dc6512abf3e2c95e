package dev.pgapply.cli.settings;

import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Copy;
import dev.pgapply.apply.Subscription.Streaming;
import dev.pgapply.apply.Subscription.Until;
import dev.pgapply.apply.Subscription.Writer;
import dev.pgapply.cli.connection.ConnectionException;
import dev.pgapply.cli.connection.ConnectionString;
import dev.pgapply.cli.connection.ConnectionString.Resolved;
import dev.pgapply.cli.connection.ConnectionString.Side;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A subscription as the settings describe it, checked as far as that is possible without a connection.
///
/// @param warnings what the user should know before it runs
public record Job(Subscription subscription, List<String> warnings) {

    /// Puts the settings together.
    ///
    /// @throws UsageException if a setting is missing, cannot be read, or contradicts another
    public static Job of(Settings settings, ProcessEnvironment environment) {
        List<String> warnings = new ArrayList<>();
        PostgresEndpoint source = endpoint(settings, Side.SOURCE, environment, warnings);
        PostgresEndpoint target = endpoint(settings, Side.TARGET, environment, warnings);
        if (source.hosts().equals(target.hosts()) && source.database().equals(target.database())) {
            throw new UsageException(
                    "source and target are the same database", "Name another one with --source or --target.");
        }
        Optional<Until> until = settings.find(Options.UNTIL);
        if (until.isEmpty() && settings.isGiven(Options.RETRY_FOR)) {
            warnings.add(settings.where(Options.RETRY_FOR)
                    + " has no effect without --until: lost connections are retried for ever");
        }
        Subscription subscription = new Subscription(
                settings.get(Options.NAME),
                source,
                target,
                settings.all(Options.PUBLICATION),
                settings.find(Options.SLOT),
                settings.get(Options.FAILOVER),
                settings.get(Options.SLOT_WAIT),
                new Copy(
                        settings.get(Options.COPY_DATA),
                        settings.get(Options.TARGET_ROWS),
                        settings.get(Options.TABLE_JOBS)),
                until,
                settings.get(Options.BINARY),
                settings.get(Options.ORIGIN),
                new Streaming(
                        settings.find(Options.STREAMING),
                        settings.get(Options.PARALLEL_STREAMS),
                        settings.get(Options.SPOOL_DIR),
                        settings.get(Options.SPOOL_MEMORY),
                        settings.find(Options.SPOOL_LIMIT).orElse(Long.MAX_VALUE),
                        settings.get(Options.SPOOL_FULL)),
                settings.get(Options.TWO_PHASE),
                settings.find(Options.HEARTBEAT),
                new Writer(
                        settings.get(Options.GROUPING),
                        settings.get(Options.GROUP_ROWS),
                        settings.get(Options.GROUP_BYTES),
                        settings.get(Options.GROUP_AGE),
                        settings.get(Options.SYNCHRONOUS_COMMIT)),
                settings.get(Options.ALLOW_TRIGGERS),
                settings.get(Options.REFRESH_INTERVAL),
                until.map(any -> settings.get(Options.RETRY_FOR)));
        return new Job(subscription, List.copyOf(warnings));
    }

    private static PostgresEndpoint endpoint(
            Settings settings, Side side, ProcessEnvironment environment, List<String> warnings) {
        Option<String> option = switch (side) {
            case SOURCE -> Options.SOURCE;
            case TARGET -> Options.TARGET;
        };
        String passwordKey = switch (side) {
            case SOURCE -> ConfigFile.SOURCE_PASSWORD_FILE;
            case TARGET -> ConfigFile.TARGET_PASSWORD_FILE;
        };
        Optional<Path> passwordFile = settings.findPath(passwordKey);
        passwordFile.filter(file -> !Files.isReadable(file)).ifPresent(file -> {
            throw new UsageException(passwordKey + ": " + file + " cannot be read");
        });
        String text = settings.find(option).orElseGet(() -> fromVariables(option, side, environment));
        Resolved resolved;
        try {
            resolved = ConnectionString.resolve(text, side, environment, passwordFile);
        } catch (ConnectionException e) {
            throw new UsageException(settings.where(option) + ": " + e.getMessage(), e.hint());
        }
        resolved.warnings().forEach(warning -> warnings.add(settings.where(option) + ": " + warning));
        if (resolved.passwordInText() && settings.isOnCommandLine(option)) {
            warnings.add(option.flag() + " has a password in it that others can see in the list of processes;"
                    + " safer: ~/.pgpass, a service file, " + option.variable() + ", or password_file in the"
                    + " configuration file");
        }
        return resolved.endpoint();
    }

    /// A source that is described by `PG*` variables alone is an empty string whose every part is a gap.
    private static String fromVariables(Option<String> option, Side side, ProcessEnvironment environment) {
        boolean described = Stream.of("PGSERVICE", "PGHOST", "PGHOSTADDR", "PGDATABASE")
                .anyMatch(name -> environment.variable(name).isPresent());
        if (side == Side.SOURCE && described) {
            return "";
        }
        throw new UsageException(
                "no " + option.flatKey() + " is given",
                "Use " + option.flag() + ", " + option.variable() + ", or " + option.key()
                        + " in the configuration file.");
    }
}
