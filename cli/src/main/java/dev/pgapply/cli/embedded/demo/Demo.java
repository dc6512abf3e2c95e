package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.cli.embedded.ServerException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/// Shows in under two minutes what pgapply does: starts two servers, fills a shop, copies it, replicates its
/// traffic, kills the applier in the middle, and compares every row at the end.
public final class Demo {

    private static final int MAJOR = 18;

    private final DemoReport report;
    private final Options options;

    /// How the demo runs.
    ///
    /// @param keep leave servers and applier running at the end
    /// @param seconds how long the shop is open
    /// @param mainClass what is started as the applier, with the arguments of `pgapply run`
    public record Options(boolean keep, int seconds, String mainClass) {}

    /// @param out gets everything the demo has to say
    public Demo(PrintWriter out, Options options) {
        this.report = new DemoReport(out);
        this.options = options;
    }

    /// Runs the whole demo. Whatever it has started ends with this JVM, unless it is to be kept.
    ///
    /// @return whether both sides were identical at the end
    /// @throws DemoException if it cannot go on
    public boolean run() {
        report.title(options.seconds());
        try {
            // Somebody else than we may be the servers' user.
            Path folder = Files.createTempDirectory(
                    "pgapply-demo-",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
            boolean identical = run(folder);
            if (!options.keep()) {
                deleteFolder(folder);
                report.line("Look at both databases yourself: pgapply demo --keep");
            }
            return identical;
        } catch (ServerException e) {
            throw new DemoException("no server: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted", e);
        }
    }

    private boolean run(Path folder) throws InterruptedException {
        long start = System.nanoTime();
        report.step("Start two servers");
        try (PostgresServer source = PostgresServer.major(MAJOR).parent(folder).start();
                PostgresServer target =
                        PostgresServer.major(MAJOR).parent(folder).start();
                DemoApplier applier = new DemoApplier(options.mainClass(), source, target, folder)) {
            report.done();
            report.server("source", source, Shop.DATABASE);
            report.server("target", target, Shop.DATABASE);
            boolean identical = new DemoSteps(source, target, applier, report).run(options.seconds(), start);
            if (options.keep()) {
                applier.leaveRunning();
                source.leaveRunning();
                target.leaveRunning();
                report.howToLook(source, target, applier);
            } else {
                applier.stop();
            }
            return identical;
        }
    }

    // The servers have deleted what was theirs; the applier's log is left.
    private static void deleteFolder(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
