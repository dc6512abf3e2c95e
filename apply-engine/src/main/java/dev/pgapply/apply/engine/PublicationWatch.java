package dev.pgapply.apply.engine;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.PublishedTable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// Looks now and then whether the publications still offer the tables that are followed. One thread looks,
/// others ask.
final class PublicationWatch {

    private final Supplier<List<PublishedTable>> publications;
    private final Runnable breakConnection;
    private final Set<TableName> followed;
    private final Duration betweenLooks;
    private volatile boolean changed;

    PublicationWatch(
            Supplier<List<PublishedTable>> publications,
            Runnable breakConnection,
            Collection<PublishedTable> followed,
            Duration betweenLooks) {
        this.publications = publications;
        this.breakConnection = breakConnection;
        this.followed = names(followed);
        this.betweenLooks = betweenLooks;
    }

    /// Looks again and again until something has changed or it is interrupted. A look can wait for a table that
    /// somebody has locked, so nothing else happens on this thread.
    void run() throws InterruptedException {
        while (!changed) {
            Thread.sleep(betweenLooks);
            changed = !names(publications.get()).equals(followed);
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
