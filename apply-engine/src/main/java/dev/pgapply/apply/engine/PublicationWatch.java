package dev.pgapply.apply.engine;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.PublishedTable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// Looks now and then whether the publications still offer the tables that are followed, and writes the
/// heartbeat into the source's log. One thread looks, others ask.
final class PublicationWatch {

    /// What makes the source's log grow where nothing else does.
    ///
    /// @param every how often
    record Heartbeat(Duration every, Runnable beat) {}

    private final Supplier<List<PublishedTable>> publications;
    private final Runnable breakConnection;
    private final Set<TableName> followed;
    private final Duration betweenLooks;
    private final Optional<Heartbeat> heartbeat;
    private volatile boolean changed;

    PublicationWatch(
            Supplier<List<PublishedTable>> publications,
            Runnable breakConnection,
            Collection<PublishedTable> followed,
            Duration betweenLooks,
            Optional<Heartbeat> heartbeat) {
        this.publications = publications;
        this.breakConnection = breakConnection;
        this.followed = names(followed);
        this.betweenLooks = betweenLooks;
        this.heartbeat = heartbeat;
    }

    /// Looks again and again until something has changed or it is interrupted. A look can wait for a table that
    /// somebody has locked, so nothing else happens on this thread.
    void run() throws InterruptedException {
        long look = System.nanoTime() + betweenLooks.toNanos();
        long beat = heartbeat.isPresent() ? System.nanoTime() : Long.MAX_VALUE;
        while (!changed) {
            TimeUnit.NANOSECONDS.sleep(Math.min(look, beat) - System.nanoTime());
            if (heartbeat.isPresent() && System.nanoTime() >= beat) {
                heartbeat.get().beat().run();
                beat = System.nanoTime() + heartbeat.get().every().toNanos();
            }
            if (System.nanoTime() >= look) {
                changed = !names(publications.get()).equals(followed);
                look = System.nanoTime() + betweenLooks.toNanos();
            }
        }
    }

    /// Ends a look under way, from any thread.
    void abort() {
        breakConnection.run();
    }

    /// Whether another set of tables is published than the one that is followed.
    boolean changed() {
        return changed;
    }

    private static Set<TableName> names(Collection<PublishedTable> tables) {
        return tables.stream().map(PublishedTable::name).collect(Collectors.toSet());
    }
}
