package dev.pgapply.cli;

import dev.pgapply.cli.embedded.demo.Demo;
import dev.pgapply.cli.embedded.demo.DemoException;
import java.util.concurrent.Callable;
import picocli.CommandLine;

/// `pgapply demo`: exit status 0 if both sides were identical, 1 if not, 5 if the demo could not be carried through.
@CommandLine.Command(
        name = "demo",
        description = {
            "Shows what pgapply does, on two real servers of its own, in about a minute.",
            "",
            "Starts a source and a target (PostgreSQL 18, in a temporary folder, on 127.0.0.1),"
                    + " fills a shop with rows, copies it, replicates its traffic, kills the applier"
                    + " in the middle, and compares every row at the end. Everything is removed"
                    + " afterwards, unless --keep is given."
        })
final class DemoCommand implements Callable<Integer> {

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @CommandLine.Option(
            names = "--keep",
            description = "Leave servers and applier running, and say how to look at them.")
    private boolean keep;

    @CommandLine.Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "20",
            description = "How long the shop is open; default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Override
    public Integer call() {
        if (seconds < 4) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--seconds must be 4 or more");
        }
        Demo.Options options = new Demo.Options(keep, seconds, Main.class.getName());
        try {
            boolean identical = new Demo(spec.commandLine().getOut(), options).run();
            return identical ? 0 : 1;
        } catch (DemoException e) {
            spec.commandLine().getOut().println();
            spec.commandLine().getOut().flush();
            spec.commandLine().getErr().println("pgapply demo: " + e.getMessage());
            spec.commandLine().getErr().flush();
            return 5;
        }
    }
}
