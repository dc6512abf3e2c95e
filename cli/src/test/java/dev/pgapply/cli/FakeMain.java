package dev.pgapply.cli;

import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import java.io.PrintWriter;
import java.time.InstantSource;

/// The program with a [FakeEngine], for tests that need a process of its own.
final class FakeMain {

    private FakeMain() {}

    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        PrintWriter err = new PrintWriter(System.err, false, System.err.charset());
        Console console = new Console(err, InstantSource.system(), false);
        System.exit(new Program(ProcessEnvironment.ofThisProcess(), out, console, FakeEngine::new).execute(arguments));
    }
}
