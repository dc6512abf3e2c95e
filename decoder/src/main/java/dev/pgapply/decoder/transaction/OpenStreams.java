package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.PgOutputMessage;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
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
    }

    OpenStreams(SpoolSettings settings, RelationCache relations) {
        this.directory = SpoolDirectory.open(settings.directory());
        this.budget = new SpoolBudget(settings);
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
            known = new Transaction(
                    start.xid(),
                    new Spool(start.xid(), directory.file(start.xid()), budget),
                    new StreamedRelations(relations));
            byXid.put(start.xid(), known);
        }
        current = known;
    }

    void stop() {
        current = null;
    }

    void origin(String name) {
        block().origin = Optional.of(name);
    }

    void append(PgOutputMessage.Streamed streamed) {
        Transaction transaction = block();
        if (streamed.message() instanceof PgOutputMessage.RelationMessage description) {
            transaction.relations.arrived(description.relation().oid());
        }
        transaction.spool.append(streamed);
        while (budget.memoryIsExceededWith(0) && spillLargest()) {
            // One may not be enough.
        }
    }

    private boolean spillLargest() {
        Optional<Spool> largest = byXid.values().stream()
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
        return budget.usage(byXid.size());
    }

    @Override
    public void close() {
        byXid.clear();
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
