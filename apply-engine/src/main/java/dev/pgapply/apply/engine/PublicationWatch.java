package dev.pgapply.apply.engine;

import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.PublishedTable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// Looks now and then whether the publications still offer the tables that are followed. One thread looks, others ask.
final class PublicationWatch {

    private final Supplier<List<PublishedTable>> publications;
    private final Runnable breakConnection;
    private final Set<TableName> followed;
    private final long betweenLooksNanos;
    private long lookedAtNanos = System.nanoTime();
    private volatile boolean changed;

    PublicationWatch(
            Supplier<List<PublishedTable>> publications,
            Runnable breakConnection,
            Collection<PublishedTable> followed,
            Duration betweenLooks) {
        this.publications = publications;
        this.breakConnection = breakConnection;
        this.followed = names(followed);
        this.betweenLooksNanos = betweenLooks.toNanos();
    }

    /// Looks if it is time to.
    void look() {
        if (!changed && System.nanoTime() - lookedAtNanos >= betweenLooksNanos) {
            changed = !names(publications.get()).equals(followed);
            lookedAtNanos = System.nanoTime();
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
