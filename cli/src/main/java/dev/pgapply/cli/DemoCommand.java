package dev.pgapply.cli;

import dev.pgapply.cli.embedded.demo.Demo;
import dev.pgapply.cli.embedded.demo.DemoException;
import dev.pgapply.cli.output.Console;
import dev.pgapply.cli.output.ErrorText;
import dev.pgapply.cli.settings.UsageException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// `pgapply demo`: a whole replication with a crash in it, between two servers of its own.
final class DemoCommand implements Callable<Integer> {

    private static final int LEAST_SECONDS = 4;
    private static final int MOST_SECONDS = 3600;

    private final PrintWriter out;
    private final Console console;
    private final CommandSpec spec;

    DemoCommand(PrintWriter out, Console console) {
        this.out = out;
        this.console = console;
        this.spec = describe(this);
    }

    CommandSpec spec() {
        return spec;
    }

    @Override
    public Integer call() {
        ParseResult parsed = spec.commandLine().getParseResult();
        try {
            Demo.Options options = new Demo.Options(
                    parsed.hasMatchedOption("--keep"),
                    seconds(parsed.matchedOptionValue("--seconds", "20")),
                    Main.class.getName());
            boolean identical = new Demo(out, options).run();
            return (identical ? ExitCode.DONE : ExitCode.DIFFERENT).number();
        } catch (DemoException e) {
            out.println();
            out.flush();
            console.print(ErrorText.of(ExitCode.SETUP.name(), "demo: " + e.getMessage(), ""));
            return ExitCode.SETUP.number();
        } catch (RuntimeException e) {
            return Failures.report(e, console, false).number();
        }
    }

    private static int seconds(String text) {
        int seconds = text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
        if (seconds < LEAST_SECONDS || seconds > MOST_SECONDS) {
            throw new UsageException(
                    "--seconds is a number from " + LEAST_SECONDS + " to " + MOST_SECONDS,
                    "pgapply demo --help shows all options.");
        }
        return seconds;
    }

    private static CommandSpec describe(DemoCommand command) {
        CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
        spec.addOption(OptionSpec.builder("--keep")
                .arity("0")
                .type(boolean.class)
                .description("leave servers and applier running, and say how to look at them")
                .build());
        spec.addOption(OptionSpec.builder("--seconds")
                .arity("1")
                .type(String.class)
                .paramLabel("N")
                .description("how long the shop is open (default: 20)")
                .build());
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("show this text")
                .build());
        spec.usageMessage()
                .description(
                        "Shows in less than two minutes what pgapply does, and needs nothing for it: starts two"
                                + " PostgreSQL servers on 127.0.0.1, fills a shop on the first one, copies it to the second one,"
                                + " replicates its traffic, kills the applier in the middle, and compares every row at the end.%n");
        spec.usageMessage().width(120);
        return spec;
    }
}
