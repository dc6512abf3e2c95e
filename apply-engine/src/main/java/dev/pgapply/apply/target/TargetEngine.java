package dev.pgapply.apply.target;

import dev.pgapply.apply.EngineListener;

/// One kind of target: opens the sessions that a run needs.
public interface TargetEngine {

    /// What the writing session has to know of the source.
    ///
    /// @param version `server_version_num`
    /// @param systemIdentifier the cluster's
    /// @param unconverted values come in bytes whose encoding is not known
    record Source(int version, String systemIdentifier, boolean unconverted) {}

    /// Opens the writing session: fences off every other instance, then reads the progress.
    ///
    /// @throws dev.pgapply.apply.ApplyException.SetupException if another instance is alive
    TargetSession openSession(Source source, EngineListener listener) throws InterruptedException;

    /// Opens a session for a transaction that is still open at the source. Only while a session is open.
    ///
    /// @param number counts such sessions that are open at once, from 1
    /// @throws dev.pgapply.apply.ApplyException if the target cannot have one
    EarlySession openEarly(int number, EngineListener listener);

    /// Opens the connection that answers what is durable. Only while a session is open.
    Durability openDurability();
}
