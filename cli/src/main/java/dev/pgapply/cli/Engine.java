package dev.pgapply.cli;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.RunResult;
import dev.pgapply.apply.Subscription;

/// What the command line needs of the engine.
interface Engine extends AutoCloseable {

    /// Copies and applies until the position is reached or the engine is closed.
    ///
    /// @throws ApplyException if it cannot go on
    RunResult run() throws InterruptedException;

    /// Asks [#run] to come to its end, from any thread, any number of times, also before it has begun.
    @Override
    void close();

    /// Makes engines; the composition root has the real one.
    @FunctionalInterface
    interface Factory {
        Engine open(Subscription subscription, EngineListener listener);
    }
}
