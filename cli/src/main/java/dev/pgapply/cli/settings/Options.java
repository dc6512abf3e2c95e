package dev.pgapply.cli.settings;

import dev.pgapply.apply.Subscription.Binary;
import dev.pgapply.apply.Subscription.Origin;
import dev.pgapply.apply.Subscription.Streaming;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.apply.Subscription.Streaming.SpoolFull;
import dev.pgapply.apply.Subscription.TargetRows;
import dev.pgapply.apply.Subscription.Until;
import dev.pgapply.apply.Subscription.Writer;
import dev.pgapply.cli.settings.Option.Group;
import dev.pgapply.cli.settings.Option.Kind;
import dev.pgapply.cli.text.Quantity;
import dev.pgapply.decoder.Lsn;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// The table of all options: `--help`, the environment, the file and the reference follow from it.
public final class Options {

    static final Option<String> CONFIG =
            Option.of("--config", Group.JOB, "FILE", "YAML file with any of these settings", "", Function.identity());

    static final Option<String> NAME = Option.of(
            "--name",
            Group.JOB,
            "NAME",
            "the subscription; slot, origin and lock are pgapply_<name>",
            "default",
            matching("[a-z0-9_]{1,50}", "1 to 50 lower-case letters, digits and underscores"));

    static final Option<String> SOURCE = Option.of(
                    "--source",
                    Group.JOB,
                    "URI",
                    "database to read: postgresql://…, 'host=…', service=…, jdbc:…",
                    "",
                    Function.identity())
            .inFile("source.url")
            .inEnvironment("PGAPPLY_SOURCE_URI");

    static final Option<String> TARGET = Option.of(
                    "--target", Group.JOB, "URI", "database to write, in the same forms", "", Function.identity())
            .inFile("target.url")
            .inEnvironment("PGAPPLY_TARGET_URI");

    static final Option<String> PUBLICATION = Option.of(
                    "--publication",
                    Group.SOURCE,
                    "P",
                    "publication to follow, repeatable; none: pgapply_<name>, made for all tables",
                    "",
                    matching(".+", "a name"))
            .as(Kind.LIST)
            .inFile("source.publications");

    static final Option<String> SLOT = Option.of(
                    "--slot",
                    Group.SOURCE,
                    "S",
                    "replication slot, made if missing; none: pgapply_<name>",
                    "",
                    matching("[a-z0-9_]{1,63}", "1 to 63 lower-case letters, digits and underscores"))
            .inFile("source.slot");

    static final Option<Boolean> FAILOVER =
            toggle("--failover", Group.SOURCE, "make the slot one that fails over to standbys (17+)");

    static final Option<Duration> SLOT_WAIT = Option.of(
            "--slot-wait",
            Group.SOURCE,
            "TIME",
            "patience with a slot that is still active elsewhere",
            "30s",
            Quantity::parseDuration);

    static final Option<Origin> ORIGIN = Option.of(
            "--origin",
            Group.SOURCE,
            "any|none",
            "none: leave out what the source got by replication (16+)",
            "any",
            constant(Origin.class));

    static final Option<Boolean> COPY_DATA = Option.of(
            "--copy-data", Group.COPY, "true|false", "copy the rows that exist already", "true", Options::truth);

    static final Option<TargetRows> TARGET_ROWS = Option.of(
            "--target-rows",
            Group.COPY,
            "refuse|truncate|keep",
            "a target table that has rows before its copy",
            "refuse",
            constant(TargetRows.class));

    static final Option<Integer> TABLE_JOBS =
            Option.of("--table-jobs", Group.COPY, "N", "tables copied at once", "4", text -> count(text, 1_000));

    static final Option<Until> UNTIL = Option.of(
            "--until",
            Group.STREAM,
            "now|LSN",
            "stop when the source's position of this moment, or this one, is applied",
            "",
            Options::until);

    static final Option<Duration> RETRY_FOR = Option.of(
            "--retry-for",
            Group.STREAM,
            "TIME",
            "with --until: retry lost connections so long; else for ever",
            "10min",
            Quantity::parseDuration);

    static final Option<Duration> REFRESH_INTERVAL = Option.of(
            "--refresh-interval",
            Group.STREAM,
            "TIME",
            "how often to look for new tables in the publication",
            "10s",
            Quantity::parseDuration);

    static final Option<Binary> BINARY = Option.of(
            "--binary",
            Group.STREAM,
            "auto|on|off",
            "values in binary; auto: where both sides' types are equal",
            "auto",
            constant(Binary.class));

    static final Option<Mode> STREAMING = Option.of(
            "--streaming",
            Group.STREAM,
            "off|on|parallel",
            "large ones while open: on, kept (14+); parallel, written too (16+)",
            "",
            constant(Mode.class));

    static final Option<Integer> PARALLEL_STREAMS = Option.of(
            "--parallel-streams",
            Group.STREAM,
            "N",
            "open transactions written at once",
            String.valueOf(Streaming.DEFAULT.parallelStreams()),
            text -> count(text, 100));

    static final Option<Boolean> TWO_PHASE =
            toggle("--two-phase", Group.STREAM, "prepare on the target what the source prepares (15+)");

    static final Option<Duration> HEARTBEAT = Option.of(
            "--heartbeat",
            Group.STREAM,
            "TIME",
            "write into the source's log so often, so that an idle slot moves",
            "",
            Quantity::parseDuration);

    static final Option<Path> SPOOL_DIR = Option.of(
            "--spool-dir",
            Group.SPOOL,
            "DIR",
            "where open transactions wait for their commit",
            String.valueOf(Streaming.DEFAULT.spoolDirectory()),
            Path::of);

    static final Option<Long> SPOOL_MEMORY = Option.of(
            "--spool-memory",
            Group.SPOOL,
            "SIZE",
            "how much of them stays in memory",
            (Streaming.DEFAULT.spoolMemoryBytes() >> 20) + "MB",
            Quantity::parseBytes);

    static final Option<Long> SPOOL_LIMIT = Option.of(
            "--spool-limit",
            Group.SPOOL,
            "SIZE",
            "how much the files may hold; none: as much as the disk",
            "",
            Options::positiveBytes);

    static final Option<SpoolFull> SPOOL_FULL = Option.of(
            "--spool-full",
            Group.SPOOL,
            "stop|wait",
            "at the limit, stop, or let the source keep such transactions",
            "stop",
            constant(SpoolFull.class));

    static final Option<Boolean> GROUPING = Option.of(
            "--grouping",
            Group.WRITER,
            "auto|off",
            "auto: waiting transactions share one target transaction",
            "auto",
            choice(Map.of("auto", true, "off", false), "auto or off"));

    static final Option<Integer> GROUP_ROWS = Option.of(
            "--group-rows",
            Group.WRITER,
            "N",
            "most row changes of a group",
            String.valueOf(Writer.DEFAULT.groupRows()),
            text -> count(text, Integer.MAX_VALUE));

    static final Option<Long> GROUP_BYTES = Option.of(
            "--group-bytes",
            Group.WRITER,
            "SIZE",
            "most bytes of a group",
            (Writer.DEFAULT.groupBytes() >> 20) + "MB",
            Options::positiveBytes);

    static final Option<Duration> GROUP_AGE = Option.of(
            "--group-age",
            Group.WRITER,
            "TIME",
            "longest time that a group stays open",
            Writer.DEFAULT.groupAge().toSeconds() + "s",
            Quantity::parseDuration);

    static final Option<Boolean> SYNCHRONOUS_COMMIT = Option.of(
            "--synchronous-commit",
            Group.WRITER,
            "on|off",
            "commits wait for the target's disk; off is safe, too",
            "off",
            Options::truth);

    static final Option<Boolean> ALLOW_TRIGGERS = toggle(
            "--allow-triggers", Group.WRITER, "let triggers and cascades of the target fire (slower, rows in order)");

    public static final Option<Boolean> DEBUG =
            toggle("--debug", Group.OUTPUT, "log more, and show the stack trace of an error");

    private static final List<Option<?>> ALL = List.of(
            CONFIG,
            NAME,
            SOURCE,
            TARGET,
            PUBLICATION,
            SLOT,
            FAILOVER,
            SLOT_WAIT,
            ORIGIN,
            COPY_DATA,
            TARGET_ROWS,
            TABLE_JOBS,
            UNTIL,
            RETRY_FOR,
            REFRESH_INTERVAL,
            BINARY,
            STREAMING,
            PARALLEL_STREAMS,
            TWO_PHASE,
            HEARTBEAT,
            SPOOL_DIR,
            SPOOL_MEMORY,
            SPOOL_LIMIT,
            SPOOL_FULL,
            GROUPING,
            GROUP_ROWS,
            GROUP_BYTES,
            GROUP_AGE,
            SYNCHRONOUS_COMMIT,
            ALLOW_TRIGGERS,
            DEBUG);

    private static final List<Option<?>> JOB = List.of(CONFIG, NAME, SOURCE, TARGET, SLOT, DEBUG);

    private Options() {}

    /// All of them, in the order of `--help`.
    public static List<Option<?>> all() {
        return ALL;
    }

    /// Those of every verb that looks at a job.
    public static List<Option<?>> ofAJob() {
        return JOB;
    }

    private static Option<Boolean> toggle(String flag, Group group, String description) {
        return Option.of(flag, group, "", description, "false", Options::truth).as(Kind.SWITCH);
    }

    private static Function<String, String> matching(String pattern, String expected) {
        return text -> {
            if (!text.matches(pattern)) {
                throw new IllegalArgumentException("expected " + expected);
            }
            return text;
        };
    }

    private static <E extends Enum<E>> Function<String, E> constant(Class<E> type) {
        Map<String, E> words = new LinkedHashMap<>();
        Arrays.stream(type.getEnumConstants())
                .forEach(value -> words.put(value.name().toLowerCase(Locale.ROOT), value));
        return choice(words, "one of " + String.join(", ", words.keySet()));
    }

    private static <T> Function<String, T> choice(Map<String, T> words, String expected) {
        return text -> {
            T value = words.get(text);
            if (value == null) {
                throw new IllegalArgumentException("expected " + expected);
            }
            return value;
        };
    }

    private static boolean truth(String text) {
        return switch (text) {
            case "true", "on", "yes", "1" -> true;
            case "false", "off", "no", "0" -> false;
            default -> throw new IllegalArgumentException("expected true or false, on or off");
        };
    }

    private static int count(String text, int most) {
        try {
            int value = Integer.parseInt(text);
            if (value >= 1 && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // The one message below covers words and numbers out of range.
        }
        throw new IllegalArgumentException("expected a whole number from 1 to " + Quantity.ofCount(most));
    }

    private static long positiveBytes(String text) {
        long bytes = Quantity.parseBytes(text);
        if (bytes == 0) {
            throw new IllegalArgumentException("expected a size larger than zero");
        }
        return bytes;
    }

    private static Until until(String text) {
        if (text.equals("now")) {
            return new Until.Now();
        }
        try {
            return new Until.Position(Lsn.parse(text));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("expected now or a position such as 16/B374D848", e);
        }
    }
}
