package dev.pgapply.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// `pgapply version`: what runs here, for people and as JSON.
final class VersionCommand implements Callable<Integer> {

    /// The oldest and the newest PostgreSQL that are tested, as source and as target.
    private static final int OLDEST = 10;

    private static final int NEWEST = 18;

    private final PrintWriter out;
    private final CommandSpec spec;

    VersionCommand(PrintWriter out) {
        this.out = out;
        this.spec = describe(this);
    }

    CommandSpec spec() {
        return spec;
    }

    /// The version of the jar that runs.
    static String ofThis() {
        return Optional.ofNullable(VersionCommand.class.getPackage().getImplementationVersion())
                .orElse("unpackaged");
    }

    @Override
    public Integer call() {
        boolean json = spec.commandLine().getParseResult().hasMatchedOption("--json");
        out.println(json ? json() : text());
        return ExitCode.DONE.number();
    }

    private static String text() {
        return String.format(
                Locale.ROOT,
                "pgapply %s%nJava %s (%s)%npgjdbc %s%nPostgreSQL %d to %d as source and as target",
                ofThis(),
                Runtime.version(),
                System.getProperty("java.vendor"),
                driver(),
                OLDEST,
                NEWEST);
    }

    private static String json() {
        String majors =
                IntStream.rangeClosed(OLDEST, NEWEST).mapToObj(String::valueOf).collect(Collectors.joining(","));
        return String.format(
                Locale.ROOT,
                "{\"version\":%s,\"java\":%s,\"pgjdbc\":%s,\"source_versions\":[%s],\"target_versions\":[%s]}",
                quoted(ofThis()),
                quoted(Runtime.version().toString()),
                quoted(driver()),
                majors,
                majors);
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    // Asked at run time: the driver is a file of its own beside the jar, and may have been replaced.
    private static String driver() {
        try {
            Class<?> driver = Class.forName("org.postgresql.Driver");
            return Optional.ofNullable(driver.getPackage().getImplementationVersion())
                    .orElse("unknown");
        } catch (ClassNotFoundException e) {
            return "missing";
        }
    }

    private static CommandSpec describe(VersionCommand command) {
        CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
        spec.addOption(OptionSpec.builder("--json")
                .arity("0")
                .type(boolean.class)
                .description("print one JSON object")
                .build());
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("show this text")
                .build());
        spec.usageMessage()
                .description("Shows the versions of pgapply, Java and the driver, and of the servers it knows.");
        return spec;
    }
}
