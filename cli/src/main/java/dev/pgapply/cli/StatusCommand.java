package dev.pgapply.cli;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.apply.target.postgres.TargetErrors;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.cli.output.Console;
import dev.pgapply.cli.output.LogLines;
import dev.pgapply.cli.output.StatusText;
import dev.pgapply.cli.settings.Job;
import dev.pgapply.cli.settings.Options;
import dev.pgapply.cli.settings.Settings;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SourceServer;
import dev.pgapply.schema.postgres.SubscriptionStatus;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.slf4j.event.Level;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// `pgapply status`: how far a job is, and what is pending, without touching it.
final class StatusCommand implements Callable<Integer> {

    private final ProcessEnvironment environment;
    private final PrintWriter out;
    private final Console console;
    private final CommandSpec spec;

    StatusCommand(ProcessEnvironment environment, PrintWriter out, Console console) {
        this.environment = environment;
        this.out = out;
        this.console = console;
        this.spec = describe(this);
    }

    CommandSpec spec() {
        return spec;
    }

    @Override
    public Integer call() {
        Map<String, List<String>> flags =
                OptionSpecs.given(Options.ofAJob(), spec.commandLine().getParseResult());
        boolean debug = flags.containsKey(Options.DEBUG.flag());
        try {
            Settings settings = Settings.collect(flags, environment.variables());
            LogLines.install(console, debug);
            Job job = Job.of(settings, environment);
            job.warnings().forEach(warning -> console.log(Level.WARN, warning));
            StatusText status = read(job.subscription());
            boolean json = spec.commandLine().getParseResult().hasMatchedOption("--json");
            out.println(json ? status.json() : status.text());
            return ExitCode.DONE.number();
        } catch (RuntimeException e) {
            return Failures.report(e, console, debug).number();
        }
    }

    private static StatusText read(Subscription subscription) {
        String application = subscription.applicationName();
        Optional<SubscriptionStatus> known = asking(
                subscription.target(),
                application,
                SessionProfile.TARGET_CONTROL,
                new TargetErrors(subscription.target())::translate,
                target -> SubscriptionStatus.read(target, subscription.name(), subscription.objectName()));
        SubscriptionStatus status = known.orElseThrow(() -> new SetupException(
                ErrorCode.SETUP,
                "the target knows no subscription " + subscription.name(),
                "pgapply run makes it; another one has to be named with --name."));
        String slotName = status.slotName().orElse(subscription.slotName());
        return asking(
                subscription.source(),
                application,
                SessionProfile.SOURCE_CONTROL,
                new SourceErrors(subscription.source(), slotName)::translate,
                source -> {
                    SourceServer server = new SourceServer(source);
                    return new StatusText(
                            subscription.name(),
                            status,
                            slotName,
                            server.slot(slotName),
                            server.facts().flushPosition());
                });
    }

    private static <T> T asking(
            PostgresEndpoint endpoint,
            String application,
            SessionProfile profile,
            Function<SchemaException, ApplyException> translation,
            Function<PostgresSession, T> question) {
        try (PostgresSession session = new PostgresConnector(endpoint, application).open(profile)) {
            return question.apply(session);
        } catch (SchemaException e) {
            throw translation.apply(e);
        }
    }

    private static CommandSpec describe(StatusCommand command) {
        CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
        OptionSpecs.add(Options.ofAJob(), spec);
        spec.addOption(OptionSpec.builder("--json")
                .arity("0")
                .type(boolean.class)
                .description("print one JSON object")
                .build());
        spec.usageMessage()
                .description("Shows how far a job is: its progress, its slot, its tables, and the transactions that are"
                        + " prepared on the target and wait for the source's decision. Changes nothing.")
                .customSynopsis("pgapply status --source URI --target URI [--json] [OPTION]...");
        spec.usageMessage().width(120);
        return spec;
    }
}
