package dev.pgapply.it;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.engine.ApplyEngine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;

/// An engine that runs on a thread of this JVM, so that a test can hear what it tells and stop it.
final class EngineRun implements AutoCloseable {

    private final Queue<EngineEvent> events = new ConcurrentLinkedQueue<>();
    private final ApplyEngine engine;
    private final Thread thread;

    // Written by the engine's thread before it ends, read after it has.
    private volatile @Nullable RuntimeException failure;
    private volatile @Nullable RunResult result;

    /// Whether the test has asked for the failure.
    private boolean failureSeen;

    EngineRun(Subscription subscription) {
        this(subscription, event -> {}, Duration.ofSeconds(60));
    }

    /// @param listener hears each event after it was noted, on the engine's threads, which it may hold up
    /// @param silence how long a side may owe an answer
    EngineRun(Subscription subscription, EngineListener listener, Duration silence) {
        engine = new ApplyEngine(
                subscription,
                event -> {
                    events.add(event);
                    listener.onEvent(event);
                },
                silence);
        thread = Thread.ofPlatform().name("engine").start(() -> {
            try {
                result = engine.run();
            } catch (RuntimeException e) {
                failure = e;
            } catch (InterruptedException e) {
                failure = new IllegalStateException(e);
            }
        });
    }

    /// What the engine has told so far, of one kind.
    <E extends EngineEvent> List<E> events(Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    boolean isRunning() {
        return thread.isAlive();
    }

    /// Waits until the engine has reached its `--until`.
    void awaitUntil() {
        awaitEnd().ifPresent(e -> {
            throw new AssertionError("the engine failed: " + e.getMessage(), e);
        });
        Assertions.assertEquals(RunResult.UNTIL_REACHED, result);
    }

    /// Waits until the engine has given up.
    ApplyException awaitFailure() {
        failureSeen = true;
        Optional<RuntimeException> end = awaitEnd();
        Assertions.assertTrue(end.isPresent(), () -> "the engine ended with " + result);
        return Assertions.assertInstanceOf(ApplyException.class, end.get(), () -> "not for people: " + end.get());
    }

    private Optional<RuntimeException> awaitEnd() {
        Await.until("the engine has ended", () -> thread.join(Duration.ofMillis(10)));
        return Optional.ofNullable(failure);
    }

    /// Fails the test if the engine has failed: what is waited for will not come.
    void assertNotFailed() {
        RuntimeException reason = failure;
        if (reason != null) {
            failureSeen = true;
            throw new AssertionError("the engine failed: " + reason.getMessage(), reason);
        }
    }

    /// Fails the test if the engine is not at work.
    void assertRunning() {
        RuntimeException reason = failure;
        if (!isRunning()) {
            throw new AssertionError("the engine has ended", reason);
        }
    }

    /// Ends the engine in good order.
    ///
    /// @throws AssertionError if it has failed and the test did not expect it
    @Override
    public void close() {
        engine.close();
        RuntimeException reason = awaitEnd().orElse(null);
        if (reason != null && !failureSeen) {
            throw new AssertionError("the engine failed: " + reason.getMessage(), reason);
        }
    }
}
