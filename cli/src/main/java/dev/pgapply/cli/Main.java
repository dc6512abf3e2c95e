package dev.pgapply.cli;

import picocli.CommandLine;

/// Entry point of the `pgapply` command.
@CommandLine.Command(name = "pgapply", description = "Copies a PostgreSQL database once and keeps the copy in step.")
public final class Main implements Runnable {

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "a verb is needed");
    }
}
