package dev.pgapply.apply.source;

import dev.pgapply.decoder.Lsn;

/// One logical replication connection after `START_REPLICATION`. Read and written by one thread; [#abort] may
/// come from any thread.
///
/// @see <a href="https://www.postgresql.org/docs/current/protocol-replication.html">Streaming replication
/// protocol</a>
public interface ReplicationStream extends AutoCloseable {

    /// What arrives.
    interface Handler {
        /// One pgoutput message. The array belongs to the receiver from now on.
        void data(byte[] bytes, int offset, int length);

        /// The sender has decoded everything before this position.
        void keepalive(Lsn walEnd, boolean replyRequested);
    }

    /// Hands over one message if there is one, and waits about a millisecond at most if there is none.
    ///
    /// @return whether there was one
    /// @throws dev.pgapply.apply.ApplyException.SourceLost when the connection is lost or the server ends the
    /// stream
    boolean read(Handler handler);

    /// Sends a status update; the three positions are independent of each other and must never go back.
    ///
    /// @param replyRequested ask for a keepalive at once
    void status(Lsn written, Lsn flushed, Lsn applied, boolean replyRequested);

    /// Ends the stream politely, so that the server frees the slot at once.
    @Override
    void close();

    /// Breaks the connection: a thread that is blocked in it gets an error.
    void abort();
}
