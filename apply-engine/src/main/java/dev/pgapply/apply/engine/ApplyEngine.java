package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.target.TextFormatNeeded;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Keeps a target in step with its source: copies what is not there yet, then applies what is committed at the
/// source, each transaction once.
///
/// There is one way to recover from anything: close everything, connect again, and go on from the progress that
/// the target itself has. So a killed engine, a lost connection and an ordinary start are the same.
public final class ApplyEngine implements AutoCloseable {

    private static final Duration GRACE = Duration.ofSeconds(6);
    private static final Duration SILENCE = Duration.ofSeconds(60);

    private final Subscription subscription;
    private final EngineListener listener;
    private final Duration silence;
    private final Backoff backoff;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);

    /// The attempt under way: written by the running thread, read by the one that closes.
    private volatile @Nullable Attempt attempt;

    public ApplyEngine(Subscription subscription, EngineListener listener) {
        this(subscription, listener, SILENCE);
    }

    /// @param silence how long a side may owe an answer before its connection counts as lost; a minute by
    ///     default
    public ApplyEngine(Subscription subscription, EngineListener listener, Duration silence) {
        this.subscription = subscription;
        this.listener = listener;
        this.silence = silence;
        this.backoff = new Backoff(subscription.retryFor());
    }

    /// Runs until the wanted position is reached or the engine is closed. Once per engine; blocks the calling
    /// thread, which becomes the applier.
    ///
    /// @throws ApplyException if a person is needed, or the first connection fails
    public RunResult run() throws InterruptedException {
        Job job = new Job(subscription, listener, backoff, () -> stop.getCount() == 0, silence);
        try {
            while (stop.getCount() > 0) {
                try (Attempt current = new Attempt(job)) {
                    attempt = current;
                    switch (current.run()) {
                        case UNTIL_REACHED -> {
                            return RunResult.UNTIL_REACHED;
                        }
                        case STOPPED -> {
                            return RunResult.STOPPED;
                        }
                        case TABLES_CHANGED -> {
                            // The next attempt looks at the publications anew.
                        }
                    }
                } catch (TextFormatNeeded e) {
                    job.useTextOnly();
                    job.warnOnce(e.getMessage() + ": the stream goes on in text");
                } catch (ApplyException e) {
                    if (stop.getCount() == 0) {
                        return RunResult.STOPPED;
                    }
                    if (job.hasProgressed()) {
                        backoff.succeeded();
                    }
                    if (e.code() == ErrorCode.SPOOL_FULL
                            && subscription.streaming().spoolFull() == Subscription.Streaming.SpoolFull.WAIT
                            && !job.sourceKeepsOpenTransactions()) {
                        job.letSourceKeepOpenTransactions();
                        job.warnOnce(e.getMessage() + ": from now on the source keeps transactions until their commit");
                        continue;
                    }
                    waitAfter(e);
                } catch (RuntimeException e) {
                    // Breaking connections off makes libraries fail in ways of their own.
                    if (stop.getCount() == 0) {
                        return RunResult.STOPPED;
                    }
                    throw e;
                } finally {
                    attempt = null;
                }
            }
            return RunResult.STOPPED;
        } finally {
            ended.countDown();
        }
    }

    private void waitAfter(ApplyException failure) throws InterruptedException {
        Optional<Duration> delay = backoff.after(failure, System.nanoTime());
        if (delay.isEmpty()) {
            throw failure;
        }
        listener.onEvent(new EngineEvent.Retrying(failure, delay.get()));
        if (stop.await(delay.get().toMillis(), TimeUnit.MILLISECONDS)) {
            return;
        }
    }

    /// Asks the run to end, and waits until it has: the group in hand is finished or, if that takes too long,
    /// rolled back. From any thread and any state, also twice.
    @Override
    public void close() {
        stop.countDown();
        Attempt current = attempt;
        if (current == null) {
            return;
        }
        current.stop();
        try {
            if (!ended.await(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                current.abort();
                ended.await(GRACE.toMillis() / 2, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
