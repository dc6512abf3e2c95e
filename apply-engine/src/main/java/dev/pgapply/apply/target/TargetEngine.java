package dev.pgapply.apply.target;

import dev.pgapply.apply.EngineListener;

/// One kind of target: opens the sessions that a run needs.
public interface TargetEngine {

    /// Opens the writing session: fences off every other instance, then reads the progress.
    ///
    /// @throws dev.pgapply.apply.ApplyException.SetupException if another instance is alive
    TargetSession openSession(EngineListener listener) throws InterruptedException;

    /// Opens the connection that answers what is durable. Only while a session is open.
    Durability openDurability();
}
