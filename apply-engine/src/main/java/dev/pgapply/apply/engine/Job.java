package dev.pgapply.apply.engine;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.apply.target.postgres.PostgresTarget;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.postgres.PostgresConnector;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/// What outlives an attempt. Used by the running thread.
final class Job {

    private final Subscription subscription;
    private final EngineListener listener;
    private final Backoff backoff;
    private final BooleanSupplier stopping;
    private final Duration silence;
    private final PostgresConnector source;
    private final SourceErrors sourceErrors;
    private final PostgresTarget target;

    /// Where the run ends; `0/0` as long as that is not known, or for ever.
    private Lsn until = Lsn.INVALID;

    /// Once a column that cannot travel in binary form has come, the stream stays in text.
    private boolean textOnly;

    /// Once a transaction has found no room in the spool.
    private boolean sourceKeepsOpenTransactions;

    /// Set by whichever thread commits something, asked and cleared between attempts.
    private volatile boolean progressed;

    private final Set<String> warned = new HashSet<>();
    private final Set<TableName> met = new HashSet<>();

    Job(
            Subscription subscription,
            EngineListener listener,
            Backoff backoff,
            BooleanSupplier stopping,
            Duration silence) {
        this.subscription = subscription;
        this.listener = event -> {
            if (event instanceof EngineEvent.Committed || event instanceof EngineEvent.TableCopied) {
                progressed = true;
            }
            listener.onEvent(event);
        };
        this.backoff = backoff;
        this.stopping = stopping;
        this.silence = silence;
        this.source = new PostgresConnector(subscription.source(), subscription.applicationName());
        this.sourceErrors = new SourceErrors(subscription.source(), subscription.slotName());
        this.target = new PostgresTarget(subscription, silence);
    }

    Subscription subscription() {
        return subscription;
    }

    EngineListener listener() {
        return listener;
    }

    Backoff backoff() {
        return backoff;
    }

    /// Whether anything was copied or applied since the last call.
    boolean hasProgressed() {
        boolean answer = progressed;
        progressed = false;
        return answer;
    }

    boolean stopping() {
        return stopping.getAsBoolean();
    }

    /// How long a side may owe an answer.
    Duration silence() {
        return silence;
    }

    PostgresConnector source() {
        return source;
    }

    SourceErrors sourceErrors() {
        return sourceErrors;
    }

    PostgresTarget target() {
        return target;
    }

    /// The named publications, or the one of the subscription's own name.
    List<String> publications() {
        return subscription.publications().isEmpty() ? List.of(subscription.objectName()) : subscription.publications();
    }

    /// The end of the run, which `--until now` fixes at the first connection.
    ///
    /// @param now the source's position of this moment
    Lsn until(Lsn now) {
        if (!until.isValid() && subscription.until().isPresent()) {
            until = switch (subscription.until().get()) {
                case Subscription.Until.Now ignored -> now;
                case Subscription.Until.Position position -> position.lsn();
            };
        }
        return until;
    }

    /// Tells people something, but not again with each attempt.
    void warnOnce(String message) {
        if (warned.add(message)) {
            listener.onEvent(new EngineEvent.Warning(message));
        }
    }

    /// Tables whose changes came although they were not known. If the publications still do not offer them
    /// afterwards, they have left in the meantime.
    void met(Set<TableName> unknown) {
        met.addAll(unknown);
    }

    Set<TableName> met() {
        return met;
    }

    boolean textOnly() {
        return textOnly;
    }

    boolean sourceKeepsOpenTransactions() {
        return sourceKeepsOpenTransactions;
    }

    void letSourceKeepOpenTransactions() {
        sourceKeepsOpenTransactions = true;
    }

    void useTextOnly() {
        textOnly = true;
    }
}
