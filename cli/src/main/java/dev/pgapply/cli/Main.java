package dev.pgapply.cli;

import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.engine.ApplyEngine;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.TimeZone;

/// Entry point of the `pgapply` command, and the one place where its parts are put together.
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        // Before anything else: the driver sends the JVM's zone to the server, where it decides how timestamps look.
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        PrintWriter err = new PrintWriter(System.err, false, System.err.charset());
        Console console = new Console(err, InstantSource.system(), isTerminal());
        int exitCode = new Program(ProcessEnvironment.ofThisProcess(), out, console, Main::engine).execute(arguments);
        out.flush();
        System.exit(exitCode);
    }

    private static Engine engine(Subscription subscription, EngineListener listener) {
        ApplyEngine engine = new ApplyEngine(subscription, listener);
        return new Engine() {
            @Override
            public RunResult run() throws InterruptedException {
                return engine.run();
            }

            @Override
            public void close() {
                engine.close();
            }
        };
    }

    // Java tells it of standard input and output only; where Linux cannot be asked, nothing is redrawn.
    private static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
