package dev.pgapply.apply.engine;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.source.OpenTransactions;
import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.schema.postgres.PostgresSession;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/// Says for whom the making of a slot waits, when it takes long.
final class SlotPatience {

    private static final Duration SILENT_AT_FIRST = Duration.ofSeconds(3);
    private static final Duration BETWEEN_WORDS = Duration.ofSeconds(30);

    private final PostgresSession source;
    private final SourceErrors errors;
    private final EngineListener listener;

    SlotPatience(PostgresSession source, SourceErrors errors, EngineListener listener) {
        this.source = source;
        this.errors = errors;
        this.listener = listener;
    }

    /// Runs the action; meanwhile another thread uses the source's control connection.
    <T> T watching(Supplier<T> action) throws InterruptedException {
        Thread speaker =
                Thread.ofPlatform().daemon().name("pgapply-slot-patience").start(this::speak);
        try {
            return action.get();
        } finally {
            speaker.interrupt();
            speaker.join();
        }
    }

    private void speak() {
        try {
            Thread.sleep(SILENT_AT_FIRST);
            while (true) {
                List<String> open = OpenTransactions.of(source, errors);
                if (!open.isEmpty()) {
                    listener.onEvent(new EngineEvent.Warning(
                            "the slot can be made when these transactions of the source have ended: "
                                    + String.join("; ", open)));
                }
                Thread.sleep(BETWEEN_WORDS);
            }
        } catch (InterruptedException e) {
            // The slot is made.
        }
    }
}
