package dev.pgapply.cli;

import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import dev.pgapply.cli.output.LogLines;
import dev.pgapply.cli.output.ProgressLines;
import dev.pgapply.cli.settings.Job;
import dev.pgapply.cli.settings.Options;
import dev.pgapply.cli.settings.Settings;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.event.Level;
import picocli.CommandLine.Model.CommandSpec;

/// `pgapply run`: copies what is not copied yet, then applies every committed transaction; always resumes.
final class RunCommand implements Callable<Integer> {

    private static final long TICK_MILLIS = 500;

    private final ProcessEnvironment environment;
    private final Console console;
    private final Engine.Factory engines;
    private final CommandSpec spec;

    RunCommand(ProcessEnvironment environment, Console console, Engine.Factory engines) {
        this.environment = environment;
        this.console = console;
        this.engines = engines;
        this.spec = describe(this);
    }

    CommandSpec spec() {
        return spec;
    }

    @Override
    public Integer call() {
        StopSignals signals = StopSignals.install(console);
        Map<String, List<String>> flags =
                OptionSpecs.given(Options.all(), spec.commandLine().getParseResult());
        boolean debug = flags.containsKey(Options.DEBUG.flag());
        try {
            Settings settings = Settings.collect(flags, environment.variables());
            debug = settings.get(Options.DEBUG);
            LogLines.install(console, debug);
            Job job = Job.of(settings, environment);
            job.warnings().forEach(warning -> console.log(Level.WARN, warning));
            return run(job, signals).number();
        } catch (RuntimeException e) {
            return Failures.report(e, console, debug).number();
        }
    }

    private ExitCode run(Job job, StopSignals signals) {
        ProgressLines progress = new ProgressLines(console, InstantSource.system());
        CountDownLatch ended = new CountDownLatch(1);
        boolean endless = job.subscription().until().isEmpty();
        try (Engine engine = engines.open(job.subscription(), progress)) {
            Thread.ofPlatform().daemon().name("progress").start(() -> tick(progress, ended));
            signals.onFirst(endless, engine::close);
            return switch (engine.run()) {
                case UNTIL_REACHED -> ExitCode.DONE;
                case STOPPED -> signals.outcome().orElse(endless ? ExitCode.DONE : ExitCode.TERMINATED);
            };
        } catch (SourceLost | TargetLost e) {
            // A connection that breaks while the run is being stopped is no failure of the run.
            return signals.outcome().orElseThrow(() -> e);
        } catch (InterruptedException e) {
            return ExitCode.TERMINATED;
        } finally {
            ended.countDown();
            String summary = progress.summary();
            if (!summary.isEmpty()) {
                console.print(summary);
            }
        }
    }

    private static void tick(ProgressLines progress, CountDownLatch ended) {
        try {
            while (!ended.await(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
                progress.tick();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static CommandSpec describe(RunCommand command) {
        CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
        OptionSpecs.add(Options.all(), spec);
        spec.usageMessage()
                .description(
                        "Copies the tables that are not copied yet, then applies every committed transaction of the"
                                + " source to the target. Started again, it resumes where it was.")
                .customSynopsis("pgapply run --source URI --target URI [OPTION]...")
                .footer(
                        "",
                        "Each option is also an environment variable (--slot-wait: PGAPPLY_SLOT_WAIT) and a key of the",
                        "file (slot_wait). Flags beat the environment, the environment beats the file.",
                        "URIs: PGAPPLY_SOURCE_URI and PGAPPLY_TARGET_URI. Passwords: ~/.pgpass or password_file in the file.");
        spec.usageMessage().width(120);
        return spec;
    }
}
