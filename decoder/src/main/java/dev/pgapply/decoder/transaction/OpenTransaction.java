package dev.pgapply.decoder.transaction;

/// What a transaction does that is still open at the source, for those who want to do it ahead. It may still be
/// rolled back; if it ends well, all of it comes as [TransactionEvent.Kept], too.
///
/// Transactions interleave here, and their events come between those of committed ones.
public sealed interface OpenTransaction extends TransactionEvent
        permits OpenTransaction.Part, OpenTransaction.RolledBack {

    /// The top-level transaction, unsigned.
    int xid();

    /// It changes something, or sends a message.
    ///
    /// @param subxid the subtransaction that does it, or the top-level one; of a message always the latter
    /// @param event a [Change] or a [TransactionEvent.Message]
    record Part(int xid, int subxid, TransactionEvent event) implements OpenTransaction {

        @Override
        public long retainedBytes() {
            return 32 + event.retainedBytes();
        }
    }

    /// What the subtransaction did, and everything since, is undone; or all of it, if it is the top-level one.
    record RolledBack(int xid, int subxid) implements OpenTransaction {

        @Override
        public long retainedBytes() {
            return 32;
        }
    }
}
