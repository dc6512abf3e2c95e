package dev.pgapply.apply.target;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.util.List;

/// Consecutive source transactions in commit order, as flat events: `Begin · changes* · Commit`, again and
/// again. The first transaction may be the continuation of one that an earlier group began (then its `Begin` is
/// missing here), the last one may be incomplete (then its `Commit` comes in a later group). A transaction that
/// ends with `Prepare` is alone in its group, but for its continuation.
///
/// @param complete how many events, from the start, belong to transactions that end within this group
/// @param boundaries keep each source transaction a target transaction of its own
public record ChangeGroup(List<TransactionEvent> events, int complete, boolean boundaries) {

    /// What a group did.
    ///
    /// @param transactions source transactions committed
    /// @param rows row changes committed
    /// @param endLsn where the last committed transaction ends; `0/0` if none was committed
    public record Applied(long transactions, long rows, Lsn endLsn) {
        public static final Applied NOTHING = new Applied(0, 0, Lsn.INVALID);
    }
}
