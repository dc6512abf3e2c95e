package dev.pgapply.cli;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/// Runs until it is closed, or does what its subscription's name says: the names are those of [Behaviour].
final class FakeEngine implements Engine {

    /// What makes an engine end.
    enum Behaviour {
        /// Ends when it is closed.
        OBEDIENT,
        /// Reaches `--until` at once.
        REACHES,
        /// Does not end when it is closed.
        DEAF,
        /// Fails in a way that nobody foresaw.
        BROKEN
    }

    /// Written as a log line when the engine runs.
    static final String RUNNING = "the engine runs";

    private final Subscription subscription;
    private final EngineListener listener;
    private final CountDownLatch closed = new CountDownLatch(1);

    FakeEngine(Subscription subscription, EngineListener listener) {
        this.subscription = subscription;
        this.listener = listener;
    }

    @Override
    public RunResult run() throws InterruptedException {
        listener.onEvent(new EngineEvent.Connected(180_006, 180_006));
        listener.onEvent(new EngineEvent.Warning(RUNNING));
        return switch (Behaviour.valueOf(subscription.name().toUpperCase(Locale.ROOT))) {
            case OBEDIENT -> {
                closed.await();
                yield RunResult.STOPPED;
            }
            case REACHES -> RunResult.UNTIL_REACHED;
            case DEAF -> {
                new CountDownLatch(1).await();
                yield RunResult.STOPPED;
            }
            case BROKEN -> throw new IllegalStateException("value of a row");
        };
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
