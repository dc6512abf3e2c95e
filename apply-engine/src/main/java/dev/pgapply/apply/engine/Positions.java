package dev.pgapply.apply.engine;

import dev.pgapply.decoder.Lsn;

/// How far the target is, and what may be confirmed to the source. Every position only grows.
///
/// The applier's thread writes `committed`, the durability thread writes `durable` and `confirmed`; the
/// receiver's thread reads.
final class Positions {

    /// The end of the last source transaction with rows that the target has committed.
    private volatile Lsn committedWithRows;

    /// The same, moved on over transactions and stretches of log that had nothing for the target.
    private volatile Lsn committed;

    /// What may be confirmed as flushed: durable rows, or a position that was stored durably because nothing
    /// was in it.
    private volatile Lsn confirmed;

    Positions(Lsn start) {
        committedWithRows = start;
        committed = start;
        confirmed = start;
    }

    /// Rows were committed up to here.
    void committed(Lsn endLsn) {
        committedWithRows = committedWithRows.max(endLsn);
        committed = committed.max(endLsn);
    }

    /// There was nothing for the target up to here.
    void passed(Lsn lsn) {
        committed = committed.max(lsn);
    }

    void confirmed(Lsn lsn) {
        confirmed = confirmed.max(lsn);
    }

    Lsn committedWithRows() {
        return committedWithRows;
    }

    Lsn committed() {
        return committed;
    }

    Lsn confirmed() {
        return confirmed;
    }
}
