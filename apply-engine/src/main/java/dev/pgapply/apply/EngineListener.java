package dev.pgapply.apply;

/// Hears what the engine does. Called on the engine's own threads, in the order of events of each thread: it
/// must be quick, must not throw, and must be safe for calls from several threads.
@FunctionalInterface
public interface EngineListener {
    void onEvent(EngineEvent event);
}
