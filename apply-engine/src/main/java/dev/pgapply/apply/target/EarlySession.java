package dev.pgapply.apply.target;

import dev.pgapply.decoder.transaction.TransactionEvent;
import java.util.List;

/// A session beside that of [TargetSession], for one source transaction at a time, which is written while it is
/// still open at the source. Nobody sees anything of it before [#finish]. One thread at a time, except [#abort].
///
/// It never waits long for a lock. After an exception of any method, the transaction is rolled back.
public interface EarlySession extends AutoCloseable {

    /// Writes changes of the transaction, in their order.
    void write(List<TransactionEvent> changes);

    /// What comes from now on can be undone together.
    void savepoint(int subxid);

    /// Undoes what was written since the savepoint, which is gone then.
    void rollbackTo(int subxid);

    /// Undoes all of it; another transaction may follow.
    void rollback();

    /// Commits or prepares it, rows and progress together; another transaction may follow.
    ///
    /// @param end `Commit` or `Prepare`
    /// @throws dev.pgapply.apply.ApplyException.TargetLost if it may have been committed
    ChangeGroup.Applied finish(TransactionEvent.Begin begin, TransactionEvent end);

    /// Rolls back what is open and frees the session, from any state, also twice.
    @Override
    void close();

    /// Breaks the connection, from any thread.
    void abort();
}
