package dev.pgapply.apply;

/// How a run ended without an error.
public enum RunResult {
    /// Everything up to the wanted position is applied, durable on the target and confirmed to the source.
    UNTIL_REACHED,
    /// It was asked to stop: what was committed is durable and confirmed, the rest comes again with the next
    /// run.
    STOPPED
}
