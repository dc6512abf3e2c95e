package dev.pgapply.apply.target;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import org.jspecify.annotations.Nullable;

/// The one session that writes changes. It holds the instance's lock from its opening to its end. One thread at
/// a time, except [#abort].
///
/// Every method may throw the engine's exceptions; after one the session is rolled back and must be closed.
public interface TargetSession extends AutoCloseable {

    /// How far the target is: the end of the last source transaction whose rows are durable here, as of the
    /// opening of this session; `0/0` before the first.
    Lsn progress();

    /// Says where a target that has no progress yet begins. Durable when it returns.
    void start(Lsn progress);

    /// Writes the group. Every complete transaction is committed, rows and progress together, when this
    /// returns; an incomplete one at the end stays open for the next group. If a change cannot be applied, the
    /// complete transactions before its own are committed before the exception is thrown.
    ChangeGroup.Applied apply(ChangeGroup group);

    /// Has others give way when a group waits long for a lock. Only between transactions.
    ///
    /// @param release frees what this process itself holds elsewhere; null if it holds nothing
    void yieldTo(@Nullable Runnable release);

    /// Whether the changes of a source transaction that this subscription has prepared are here though the
    /// progress does not tell its end: prepared still, or committed.
    boolean isHere(int xid);

    /// Commits what was prepared, and then the progress. What was committed before, by a run that ended before it
    /// could say so or by a person, is taken as it is.
    ///
    /// @throws dev.pgapply.apply.ApplyException if it was neither prepared nor committed
    void commitPrepared(TransactionEvent.CommitPrepared decided);

    /// Rolls back what was prepared, if it is there, and then commits the progress.
    ///
    /// @throws dev.pgapply.apply.ApplyException if somebody has committed it
    void rollbackPrepared(TransactionEvent.RollbackPrepared decided);

    /// Rolls back what is open and frees the session, from any state, also twice.
    @Override
    void close();

    /// Breaks the connection, from any thread: a call that waits for the target fails.
    void abort();
}
