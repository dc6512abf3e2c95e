package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Prepared transactions that are kept until the source decides them, and are ordinary transactions then.
///
/// A transaction that was prepared before a table was copied, or before the slot existed, is neither in the copy
/// nor behind its position by its prepare record alone: only where it commits tells. What is kept here is kept
/// nowhere else, so the source must not be told that it was received.
final class PreparedHold {

    /// One of them.
    static final class Transaction {
        private final String gid;
        private final Lsn prepareLsn;
        private final OpenStreams.Transaction spooled;
        private final KeptParts parts;

        private Transaction(String gid, Lsn prepareLsn, OpenStreams.Transaction spooled, KeptParts parts) {
            this.gid = gid;
            this.prepareLsn = prepareLsn;
            this.spooled = spooled;
            this.parts = parts;
        }

        /// Keeps a part as a streamed transaction would.
        void append(int xid, PgOutputMessage.Streamable part, byte[] bytes, int offset, int length) {
            byte[] wire = ByteBuffer.allocate(length + Integer.BYTES)
                    .put(bytes[offset])
                    .putInt(xid)
                    .put(bytes, offset + 1, length - 1)
                    .array();
            spooled.spool().append(new PgOutputMessage.Streamed(xid, part, Bytes.copyOf(wire)));
        }

        OpenStreams.Transaction spooled() {
            return spooled;
        }

        KeptParts parts() {
            return parts;
        }
    }

    private final Lsn before;
    private final Map<Integer, Transaction> byXid = new HashMap<>();
    private final List<GivenOut> givenOut = new ArrayList<>();

    /// One that was handed out and may still be on its way.
    private record GivenOut(Lsn prepareLsn, Lsn endLsn) {}

    /// @param before those whose prepare record begins before it are kept
    PreparedHold(Lsn before) {
        this.before = before;
    }

    boolean concerns(Lsn prepareLsn) {
        return prepareLsn.isBefore(before);
    }

    Transaction begin(PgOutputMessage.BeginPrepare begin, OpenStreams streams, RelationCache known) {
        OpenStreams.Transaction spooled = streams.apart(begin.xid());
        // Its descriptions stand before it as well as in it.
        KeptParts parts = new KeptParts(spooled.spool(), known.copy());
        Transaction transaction = new Transaction(begin.gid(), begin.prepareLsn(), spooled, parts);
        put(begin.xid(), transaction);
        return transaction;
    }

    void streamed(PgOutputMessage.StreamPrepare prepare, OpenStreams streams, OpenStreams.Transaction spooled) {
        streams.setAside(spooled);
        put(prepare.xid(), new Transaction(prepare.gid(), prepare.prepareLsn(), spooled, spooled.parts()));
    }

    private void put(int xid, Transaction transaction) {
        if (byXid.putIfAbsent(xid, transaction) != null) {
            throw new UnexpectedMessageException(
                    "transaction %s is prepared twice".formatted(Integer.toUnsignedString(xid)));
        }
    }

    /// Gives out what was committed, up to this position; nothing if it was not kept.
    Optional<Transaction> committed(int xid, String gid, Lsn endLsn) {
        Optional<Transaction> transaction = take(xid, gid);
        transaction.ifPresent(kept -> givenOut.add(new GivenOut(kept.prepareLsn, endLsn)));
        return transaction;
    }

    /// Gives out what was rolled back; nothing if it was not kept.
    Optional<Transaction> rolledBack(int xid, String gid) {
        return take(xid, gid);
    }

    private Optional<Transaction> take(int xid, String gid) {
        Transaction transaction = byXid.remove(xid);
        if (transaction != null && !transaction.gid.equals(gid)) {
            throw new UnexpectedMessageException("prepared transaction %s ends under another identifier than it began"
                    .formatted(Integer.toUnsignedString(xid)));
        }
        return Optional.ofNullable(transaction);
    }

    /// Where the first of them was prepared that the target does not have: nothing from there on may be confirmed.
    /// The source would send no more of it than its end.
    ///
    /// @param durable what the target has
    Optional<Lsn> first(Lsn durable) {
        givenOut.removeIf(gone -> !gone.endLsn().isAfter(durable));
        return Stream.concat(
                        byXid.values().stream().map(kept -> kept.prepareLsn),
                        givenOut.stream().map(GivenOut::prepareLsn))
                .min(Comparator.naturalOrder());
    }
}
