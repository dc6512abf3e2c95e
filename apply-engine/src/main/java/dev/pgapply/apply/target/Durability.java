package dev.pgapply.apply.target;

import dev.pgapply.decoder.Lsn;
import java.util.Optional;

/// Asks the target what a crash would leave, on a connection of its own, so that a session that waits for a
/// lock does not hold up the feedback. One thread.
public interface Durability extends AutoCloseable {

    /// The end of the last source transaction whose rows are on the target's disk. Makes it so where the target
    /// commits asynchronously.
    ///
    /// @param committed what the session has committed: the answer is never after it
    Lsn durable(Lsn committed);

    /// Stores durably that everything before this position may be confirmed although no rows came with it.
    void confirm(Lsn position);

    /// Who has what the writing session waits for, in words; empty if it waits for nobody.
    Optional<String> blocker();

    @Override
    void close();

    /// Breaks the connection, from any thread.
    void abort();
}
