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
    private final Map<Integer, Transaction> byXid = new HashMap<>();
    private final Set<Transaction> aside = new HashSet<>();
    private @Nullable Transaction current;

    /// One of them.
    static final class Transaction {
        private final int xid;
        private final Spool spool;
        private final StreamedRelations relations;
        private Optional<String> origin = Optional.empty();

        private Transaction(int xid, Spool spool, StreamedRelations relations) {
            this.xid = xid;
            this.spool = spool;
            this.relations = relations;
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

    OpenStreams(SpoolSettings settings, FullDisk fullDisk, RelationCache relations) {
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
            known = make(start.xid());
            byXid.put(start.xid(), known);
        }
        current = known;
    }

    /// Makes room for a transaction that is not streamed.
    Transaction apart(int xid) {
        Transaction transaction = make(xid);
        setAside(transaction);
        return transaction;
    }

    /// Keeps a transaction whose end has come, but not its decision.
    void setAside(Transaction transaction) {
        aside.add(transaction);
    }

    /// Forgets a transaction that was taken or set aside.
    void delete(Transaction transaction) {
        aside.remove(transaction);
        transaction.spool.delete();
    }

    private Transaction make(int xid) {
        return new Transaction(xid, new Spool(xid, directory.file(xid), budget), new StreamedRelations(relations));
    }

    void stop() {
        current = null;
    }

    void origin(String name) {
        block().origin(name);
    }

    void append(PgOutputMessage.Streamed streamed) {
        Transaction transaction = block();
        if (streamed.message() instanceof PgOutputMessage.RelationMessage description) {
            transaction.relations.arrived(description.relation().oid());
        }
        transaction.spool.append(streamed);
        limitMemory();
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
    /// @return whether the transaction is known
    boolean abort(int xid, int subxid) {
        Transaction transaction = byXid.get(xid);
        if (transaction == null) {
            return false;
        }
        if (subxid != xid) {
            transaction.spool.abort(subxid);
            transaction.relations.aborted();
        } else {
            byXid.remove(xid);
            transaction.spool.delete();
        }
        return true;
    }

    /// Gives the transaction out of hand: its end has come.
    Transaction take(int xid) {
        Transaction transaction = byXid.remove(xid);
        if (transaction == null) {
            throw new UnexpectedMessageException("the end of transaction %s comes, of which no block has come"
                    .formatted(Integer.toUnsignedString(xid)));
        }
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
