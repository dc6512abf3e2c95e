package dev.pgapply.apply.target;

import dev.pgapply.apply.EngineListener;

/// One kind of target: opens the sessions that a run needs.
public interface TargetEngine {

    /// Opens the writing session: fences off every other instance, then reads the progress.
    ///
    /// @param sourceVersion `server_version_num` of the source
    /// @param converted characters are converted between the databases' encodings; not where one of them has none
    /// @throws dev.pgapply.apply.ApplyException.SetupException if another instance is alive
    TargetSession openSession(int sourceVersion, boolean converted, EngineListener listener)
            throws InterruptedException;

    /// Opens the connection that answers what is durable. Only while a session is open.
    Durability openDurability();
}
