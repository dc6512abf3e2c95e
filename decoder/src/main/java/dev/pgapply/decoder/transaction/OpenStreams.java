package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.PgOutputMessage;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The streamed transactions whose end is not known yet. Blocks of several alternate; at most one block is
/// open.
final class OpenStreams implements AutoCloseable {

    /// Less than this of a transaction is not written out, whatever the limit: the memory that is used beyond
    /// the limit is this times the number of open transactions.
    private static final long SMALLEST_WRITE_BYTES = 4 * 1024;

    private final SpoolDirectory directory;
    private final SpoolBudget budget;
    private final long smallestWriteBytes;
    private final RelationCache relations;
    private final EarlyDelivery delivery;
    private final Map<Integer, Transaction> byXid = new HashMap<>();
    private final Set<Transaction> aside = new HashSet<>();
    private @Nullable Transaction current;

    /// One of them.
    static final class Transaction {
        private final int xid;
        private final Spool spool;
        private final StreamedRelations relations;
        private final ChangeResolver changes;
        private final boolean early;
        private Optional<String> origin = Optional.empty();

        private Transaction(int xid, Spool spool, StreamedRelations relations, boolean early) {
            this.xid = xid;
            this.spool = spool;
            this.relations = relations;
            this.changes = new ChangeResolver(relations);
            this.early = early;
        }

        /// Whether it is told of while it is open.
        boolean early() {
            return early;
        }

        KeptParts parts() {
            return new KeptParts(spool, relations.fromBeginning());
        }

        Spool spool() {
            return spool;
        }

        StreamedRelations relations() {
            return relations;
        }

        Optional<String> origin() {
            return origin;
        }

        void origin(String name) {
            origin = Optional.of(name);
        }
    }

    OpenStreams(SpoolSettings settings, EarlyDelivery delivery, FullDisk fullDisk, RelationCache relations) {
        this.delivery = delivery;
        this.directory = SpoolDirectory.open(settings.directory());
        this.budget = new SpoolBudget(settings, fullDisk);
        this.smallestWriteBytes = Math.min(SMALLEST_WRITE_BYTES, settings.memoryBytes());
        this.relations = relations;
    }

    boolean isInBlock() {
        return current != null;
    }

    void start(PgOutputMessage.StreamStart start) {
        Transaction known = byXid.get(start.xid());
        if (start.firstSegment() == (known != null)) {
            throw new UnexpectedMessageException("a %s block of transaction %s comes, which is %s"
                    .formatted(
                            start.firstSegment() ? "first" : "further",
                            Integer.toUnsignedString(start.xid()),
                            known != null ? "open" : "unknown"));
        }
        if (known == null) {
            boolean early = earlyOpen() < delivery.most() && delivery.allowed().getAsBoolean();
            known = make(start.xid(), early);
            byXid.put(start.xid(), known);
        }
        current = known;
    }

    /// Makes room for a transaction that is not streamed.
    Transaction apart(int xid) {
        Transaction transaction = make(xid, false);
        setAside(transaction);
        return transaction;
    }

    /// Keeps a transaction whose end has come, but not its decision.
    void setAside(Transaction transaction) {
        aside.add(transaction);
    }

    /// Gives a transaction that was set aside out of hand: its decision has come.
    void release(Transaction transaction) {
        aside.remove(transaction);
    }

    private Transaction make(int xid, boolean early) {
        return new Transaction(
                xid, new Spool(xid, directory.file(xid), budget), new StreamedRelations(relations), early);
    }

    private long earlyOpen() {
        return byXid.values().stream().filter(Transaction::early).count();
    }

    void stop() {
        current = null;
    }

    void origin(String name) {
        block().origin(name);
    }

    /// @return what an open transaction tells of itself, or null
    OpenTransaction.@Nullable Part append(PgOutputMessage.Streamed streamed) {
        Transaction transaction = block();
        transaction.spool.append(streamed);
        limitMemory();
        if (transaction.early) {
            TransactionEvent event = transaction.changes.resolve(streamed.message());
            return event == null ? null : new OpenTransaction.Part(transaction.xid, streamed.xid(), event);
        }
        if (streamed.message() instanceof PgOutputMessage.RelationMessage description) {
            transaction.relations.put(description.relation());
        }
        return null;
    }

    /// Writes out what is too much to stay in memory.
    void limitMemory() {
        while (budget.memoryIsExceededWith(0) && spillLargest()) {
            // One may not be enough.
        }
    }

    private boolean spillLargest() {
        Optional<Spool> largest = Stream.concat(byXid.values().stream(), aside.stream())
                .map(Transaction::spool)
                .filter(spool -> spool.spillableBytes() > 0)
                .max(Comparator.comparingLong(Spool::spillableBytes));
        if (largest.isEmpty() || largest.get().spillableBytes() < smallestWriteBytes) {
            return false;
        }
        largest.get().spill();
        return true;
    }

    /// Removes what a transaction or a part of it did.
    ///
    /// @return the transaction, or null if it is not known
    @Nullable
    Transaction abort(int xid, int subxid) {
        Transaction transaction = byXid.get(xid);
        if (transaction == null) {
            return null;
        }
        if (subxid != xid) {
            transaction.spool.abort(subxid);
            transaction.relations.aborted();
        } else {
            byXid.remove(xid);
            transaction.spool.delete();
        }
        return transaction;
    }

    /// Gives the transaction out of hand: its end has come, and what it described holds for all.
    Transaction take(int xid) {
        Transaction transaction = byXid.remove(xid);
        if (transaction == null) {
            throw new UnexpectedMessageException("the end of transaction %s comes, of which no block has come"
                    .formatted(Integer.toUnsignedString(xid)));
        }
        transaction.relations.commit();
        return transaction;
    }

    SpoolUsage usage() {
        return budget.usage(byXid.size() + aside.size());
    }

    @Override
    public void close() {
        byXid.clear();
        aside.clear();
        current = null;
        directory.close();
    }

    private Transaction block() {
        Transaction transaction = current;
        if (transaction == null) {
            throw new UnexpectedMessageException("no stream block is open");
        }
        return transaction;
    }

    /// For messages about the open block.
    @Override
    public String toString() {
        Transaction transaction = current;
        return transaction == null ? "no block" : "a block of transaction " + Integer.toUnsignedString(transaction.xid);
    }
}
