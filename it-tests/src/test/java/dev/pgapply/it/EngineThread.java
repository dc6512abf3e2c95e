package dev.pgapply.it;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;

/// An engine that runs on a thread of this JVM, so that a test can listen to it and stop it.
final class EngineThread implements AutoCloseable {

    private final Thread thread;
    private final Runnable stop;

    // Written by the engine's thread before it ends, read after join.
    private volatile @Nullable RuntimeException failure;

    /// @param run blocks as long as the engine works
    /// @param stop makes `run` return soon; may be called from any thread, more than once
    EngineThread(Runnable run, Runnable stop) {
        this.stop = stop;
        this.thread = Thread.ofPlatform().name("engine").start(() -> {
            try {
                run.run();
            } catch (RuntimeException e) {
                failure = e;
            }
        });
    }

    boolean isRunning() {
        return thread.isAlive();
    }

    /// Waits until the engine has ended by itself.
    ///
    /// @return what ended it, empty for a regular end
    Optional<RuntimeException> awaitEnd() {
        Await.until("the engine has ended", () -> thread.join(Duration.ofMillis(10)));
        return Optional.ofNullable(failure);
    }

    /// Ends the engine in good order.
    ///
    /// @throws IllegalStateException if it had failed by itself, or fails while ending
    @Override
    public void close() {
        stop.run();
        awaitEnd().ifPresent(e -> {
            throw new IllegalStateException("the engine failed: " + e.getMessage(), e);
        });
    }

    /// Fails the test if the engine is not at work.
    void assertRunning() {
        RuntimeException reason = failure;
        Assertions.assertTrue(isRunning(), () -> "the engine has ended" + (reason == null ? "" : ": " + reason));
    }
}
