package dev.pgapply.cli.settings;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/// One thing that can be set, in all its spellings: `--slot-wait`, `PGAPPLY_SLOT_WAIT`, `slot_wait:`.
///
/// @param flag the long flag, with its dashes
/// @param key where it stands in the file, nested keys with a dot; the flag's own name is always understood as
///     well
/// @param variable the environment variable; empty where there is none
/// @param label what `--help` shows for the value, with the closed sets written out
/// @param description one line for `--help` and the reference
/// @param fallback the default as it would be written; empty where there is none
/// @param reader turns text into a value, and throws IllegalArgumentException with what was expected
public record Option<T>(
        String flag,
        String key,
        String variable,
        Kind kind,
        Group group,
        String label,
        String description,
        String fallback,
        Function<String, T> reader) {

    /// How many values it takes.
    public enum Kind {
        VALUE,
        /// Repeatable, and each occurrence may be a comma list.
        LIST,
        /// The flag alone means `true`.
        SWITCH
    }

    /// The paragraphs of `--help`.
    public enum Group {
        JOB("Job"),
        SOURCE("Source"),
        COPY("First copy"),
        STREAM("Stream"),
        SPOOL("Spool"),
        WRITER("Writing to the target"),
        OUTPUT("Output");

        private final String title;

        Group(String title) {
            this.title = title;
        }

        public String title() {
            return title;
        }
    }

    static <T> Option<T> of(
            String flag, Group group, String label, String description, String fallback, Function<String, T> reader) {
        return new Option<>(flag, snake(flag), variable(flag), Kind.VALUE, group, label, description, fallback, reader);
    }

    Option<T> inFile(String otherKey) {
        return new Option<>(flag, otherKey, variable, kind, group, label, description, fallback, reader);
    }

    Option<T> inEnvironment(String otherVariable) {
        return new Option<>(flag, key, otherVariable, kind, group, label, description, fallback, reader);
    }

    Option<T> as(Kind otherKind) {
        return new Option<>(flag, key, variable, otherKind, group, label, description, fallback, reader);
    }

    /// The flags, short ones first.
    public List<String> flags() {
        return equals(Options.CONFIG) ? List.of("-c", flag) : List.of(flag);
    }

    /// The flag's name in the file: always understood, besides [#key].
    String flatKey() {
        return snake(flag);
    }

    /// The default, where there is one.
    public Optional<String> shownFallback() {
        return fallback.isEmpty() ? Optional.empty() : Optional.of(fallback);
    }

    private static String snake(String flag) {
        return flag.substring(2).replace('-', '_');
    }

    private static String variable(String flag) {
        return "PGAPPLY_" + snake(flag).toUpperCase(Locale.ROOT);
    }
}
