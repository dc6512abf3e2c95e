package dev.pgapply.it;

import dev.pgapply.apply.Subscription;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// A [Subscription] in the making: the fields that tests change, each with what most tests want.
final class SubscriptionSetup {

    /// Another way to the source's database, or another role in it.
    UnaryOperator<PostgresEndpoint> sourceEndpoint = UnaryOperator.identity();

    /// The same for the target.
    UnaryOperator<PostgresEndpoint> targetEndpoint = UnaryOperator.identity();

    List<String> publications = List.of();
    Optional<String> slot = Optional.empty();
    boolean failover;
    Duration slotWait = Duration.ofSeconds(10);
    boolean copyData = true;
    Subscription.TargetRows targetRows = Subscription.TargetRows.REFUSE;
    int tableJobs = 2;
    Optional<Subscription.Until> until = Optional.empty();
    Subscription.Binary binary = Subscription.Binary.AUTO;
    Subscription.Origin origin = Subscription.Origin.ANY;
    Subscription.Streaming streaming = Subscription.Streaming.DEFAULT;
    boolean twoPhase;
    Optional<Duration> heartbeat = Optional.empty();
    Subscription.Writer writer = defaultWriter();
    boolean allowTriggers;
    Duration refreshInterval = Duration.ofSeconds(1);
    Optional<Duration> retryFor = Optional.empty();

    /// `-Dpgapply.grouping=off` runs all scenarios with the source's transaction boundaries.
    private static Subscription.Writer defaultWriter() {
        Subscription.Writer standard = Subscription.Writer.DEFAULT;
        return new Subscription.Writer(
                !groupingIsOff(),
                standard.groupRows(),
                standard.groupBytes(),
                standard.groupAge(),
                standard.synchronousCommit());
    }

    static boolean groupingIsOff() {
        return System.getProperty("pgapply.grouping", "auto").equals("off");
    }

    Subscription subscription(String name, TestDatabase source, TestDatabase target) {
        return new Subscription(
                name,
                sourceEndpoint.apply(source.endpoint()),
                targetEndpoint.apply(target.endpoint()),
                publications,
                slot,
                failover,
                slotWait,
                new Subscription.Copy(copyData, targetRows, tableJobs),
                until,
                binary,
                origin,
                streaming,
                twoPhase,
                heartbeat,
                writer,
                allowTriggers,
                refreshInterval,
                retryFor);
    }
}
