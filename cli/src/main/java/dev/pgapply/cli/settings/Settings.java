package dev.pgapply.cli.settings;

import dev.pgapply.cli.settings.Option.Kind;
import dev.pgapply.cli.text.Nearest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// All settings of one run, wherever they come from: flags beat the environment, the environment beats the
/// file.
public final class Settings {

    private static final String PREFIX = "PGAPPLY_";

    /// Variables of the launcher.
    private static final Set<String> OF_THE_LAUNCHER = Set.of("PGAPPLY_JAVA_OPTS", "PGAPPLY_TIER", "PGAPPLY_NO_BUILD");

    private final Map<String, Setting> settings;
    private final Optional<Path> file;

    private Settings(Map<String, Setting> settings, Optional<Path> file) {
        this.settings = settings;
        this.file = file;
    }

    private record Setting(List<String> values, String where, boolean onCommandLine) {
        /// Without values: one may be a connection string with a password.
        @Override
        public String toString() {
            return "Setting[" + where + "]";
        }
    }

    /// Collects the settings of a run.
    ///
    /// @param flags the values that were given on the command line, by flag
    /// @throws UsageException for an unknown variable or key, or a file that cannot be read
    public static Settings collect(Map<String, List<String>> flags, Map<String, String> variables) {
        rejectUnknown(variables);
        Map<String, Setting> settings = new HashMap<>();
        for (Option<?> option : Options.all()) {
            List<String> given = flags.get(option.flag());
            String variable = variables.get(option.variable());
            if (given != null) {
                settings.put(option.key(), new Setting(given, option.flag(), true));
            } else if (variable != null && !variable.isEmpty()) {
                settings.put(option.key(), new Setting(List.of(variable), option.variable(), false));
            }
        }
        Optional<Path> file = Optional.ofNullable(settings.get(Options.CONFIG.key()))
                .map(setting -> Path.of(setting.values().getLast()));
        file.ifPresent(path -> ConfigFile.read(path, variables)
                .forEach((key, entry) -> settings.putIfAbsent(key, new Setting(entry.values(), entry.where(), false))));
        return new Settings(settings, file);
    }

    private static void rejectUnknown(Map<String, String> variables) {
        Set<String> known = Options.all().stream().map(Option::variable).collect(Collectors.toSet());
        for (String variable : variables.keySet()) {
            if (variable.startsWith(PREFIX) && !known.contains(variable) && !OF_THE_LAUNCHER.contains(variable)) {
                throw new UsageException("unknown environment variable " + variable + "; did you mean "
                        + Nearest.to(variable, known) + "?");
            }
        }
    }

    /// The value, or the option's default; empty only where there is neither.
    ///
    /// @throws UsageException if the text does not fit the option
    public <T> Optional<T> find(Option<T> option) {
        Setting setting = settings.get(option.key());
        if (setting == null) {
            return option.shownFallback().map(option.reader());
        }
        if (setting.values().size() != 1) {
            throw new UsageException(setting.where() + " may be given only once");
        }
        return Optional.of(read(option, setting.values().getFirst(), setting.where()));
    }

    /// The value of an option that has a default.
    public <T> T get(Option<T> option) {
        return find(option).orElseThrow(() -> new IllegalStateException(option.flag() + " has no default"));
    }

    /// All values of a repeatable option, comma lists taken apart.
    public <T> List<T> all(Option<T> option) {
        Setting setting = settings.get(option.key());
        if (option.kind() != Kind.LIST || setting == null) {
            return List.of();
        }
        List<T> values = new ArrayList<>();
        for (String item : setting.values()) {
            Stream.of(item.split(",", -1))
                    .map(String::strip)
                    .forEach(text -> values.add(read(option, text, setting.where())));
        }
        return values;
    }

    /// A file named in the configuration file; a relative path starts at that file's folder.
    Optional<Path> findPath(String key) {
        Optional<Path> path = Optional.ofNullable(settings.get(key))
                .map(setting -> Path.of(setting.values().getFirst()));
        Optional<Path> folder = file.map(Path::toAbsolutePath).map(Path::getParent);
        return path.map(relative -> folder.map(base -> base.resolve(relative)).orElse(relative));
    }

    /// Whether the user has set it at all.
    public boolean isGiven(Option<?> option) {
        return settings.containsKey(option.key());
    }

    /// Whether everybody who lists processes can see it.
    boolean isOnCommandLine(Option<?> option) {
        Setting setting = settings.get(option.key());
        return setting != null && setting.onCommandLine();
    }

    /// Where an option was set: its flag, variable, or file and line.
    String where(Option<?> option) {
        Setting setting = settings.get(option.key());
        return setting == null ? option.flag() : setting.where();
    }

    // The value itself is not repeated: it may be a connection string in the wrong place.
    private static <T> T read(Option<T> option, String text, String where) {
        try {
            return option.reader().apply(text);
        } catch (IllegalArgumentException e) {
            String what = where.contains(option.flag()) || where.equals(option.variable())
                    ? where
                    : where + ": " + option.flatKey();
            throw new UsageException(what + ": " + e.getMessage());
        }
    }
}
