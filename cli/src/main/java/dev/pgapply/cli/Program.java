package dev.pgapply.cli;

import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import dev.pgapply.cli.settings.Option;
import dev.pgapply.cli.settings.Options;
import dev.pgapply.cli.settings.UsageException;
import dev.pgapply.cli.text.Nearest;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// The `pgapply` command with everything it touches handed in, so that a test can run it.
final class Program {

    /// What may be repeated in an error: anything else could be a password in the wrong place.
    private static final Pattern PLAIN_WORD = Pattern.compile("-{0,2}[a-zA-Z][a-zA-Z_-]{0,30}");

    private final Console console;
    private final CommandLine commandLine;

    Program(ProcessEnvironment environment, PrintWriter out, Console console, Engine.Factory engines) {
        this.console = console;
        CommandSpec root =
                CommandSpec.wrapWithoutInspection((Runnable) this::noVerb).name("pgapply");
        root.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("show this text; pgapply VERB --help shows a verb's options")
                .build());
        root.addOption(OptionSpec.builder("-V", "--version")
                .versionHelp(true)
                .description("show the version")
                .build());
        root.version("pgapply " + VersionCommand.ofThis());
        root.usageMessage()
                .description("Copies a PostgreSQL database once and keeps the copy in step.%n")
                .customSynopsis("pgapply VERB [OPTION]...")
                .commandListHeading("%nVerbs:%n");
        root.usageMessage().width(120);
        root.addSubcommand("demo", new DemoCommand(out, console).spec());
        root.addSubcommand("run", new RunCommand(environment, console, engines).spec());
        root.addSubcommand("status", new StatusCommand(environment, out, console).spec());
        root.addSubcommand("version", new VersionCommand(out).spec());
        commandLine = new CommandLine(root)
                .setOut(out)
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
                .setExpandAtFiles(false)
                .setInterpolateVariables(false)
                .setParameterExceptionHandler(
                        (failure, arguments) -> report(new UsageException(message(failure), hint(failure))))
                .setExecutionExceptionHandler((failure, command, parsed) -> report(failure));
    }

    /// Runs the command.
    ///
    /// @return the exit code of the process
    int execute(String... arguments) {
        return commandLine.execute(arguments);
    }

    private int report(Throwable failure) {
        return Failures.report(failure, console, false).number();
    }

    private void noVerb() {
        throw new UsageException(
                "a verb is needed: " + String.join(", ", verbs()), "pgapply --help shows what they do.");
    }

    private Set<String> verbs() {
        return new TreeSet<>(commandLine.getSubcommands().keySet());
    }

    private String message(ParameterException failure) {
        return switch (failure) {
            case UnmatchedArgumentException unmatched ->
                unmatched(unmatched.getUnmatched().getFirst(), unmatched.getCommandLine());
            case MissingParameterException missing
            when missing.getMissing().getFirst() instanceof OptionSpec option ->
                option.longestName() + " needs a value";
            default -> "the command line cannot be understood";
        };
    }

    private String unmatched(String argument, CommandLine command) {
        int equals = argument.indexOf('=');
        String word = equals < 0 ? argument : argument.substring(0, equals);
        boolean atRoot = command.getParent() == null;
        String shown = PLAIN_WORD.matcher(word).matches() ? " " + word : "";
        if (!word.startsWith("-")) {
            return atRoot
                    ? "unknown verb" + shown + "; did you mean " + Nearest.to(word, verbs()) + "?"
                    : "an argument belongs to no option; a value with blanks needs quotes";
        }
        if (atRoot && Options.all().stream().map(Option::flags).anyMatch(flags -> flags.contains(word))) {
            return "option" + shown + " follows the verb: pgapply run" + shown + " …";
        }
        List<String> known = new ArrayList<>();
        command.getCommandSpec().options().forEach(option -> known.add(option.longestName()));
        return "unknown option" + shown + "; did you mean " + Nearest.to(word, known) + "?";
    }

    private static String hint(ParameterException failure) {
        return failure.getCommandLine().getCommandSpec().qualifiedName() + " --help shows all options.";
    }
}
