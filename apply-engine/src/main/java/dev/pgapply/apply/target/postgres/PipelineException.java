package dev.pgapply.apply.target.postgres;

import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;
import org.postgresql.util.ServerErrorMessage;

/// A statement of a pipeline failed, or the connection under it is gone.
///
/// [#getMessage] is the server's primary message alone: details and context, which hold cell values, are in
/// [#getServerErrorMessage]. A lost connection has SQLState 08006, and the server's last words, if it said any,
/// as its cause.
final class PipelineException extends PSQLException {

    private final int index;
    private final long tag;

    private PipelineException(ServerErrorMessage error, int index, long tag) {
        super(error, false);
        this.index = index;
        this.tag = tag;
    }

    private PipelineException(String message, PSQLState state, @Nullable Throwable cause) {
        super(message, state, cause);
        this.index = -1;
        this.tag = Pipeline.NO_TAG;
    }

    static PipelineException failed(ServerErrorMessage error, int index, long tag) {
        return new PipelineException(error, index, tag);
    }

    static PipelineException lost(String why, @Nullable Throwable cause) {
        return new PipelineException(
                "the connection to the target is lost: " + why, PSQLState.CONNECTION_FAILURE, cause);
    }

    /// Which statement of the round failed, counted from 0; the number of statements if it was the implicit
    /// commit at the round's end; -1 if the connection is lost.
    int index() {
        return index;
    }

    /// The failed statement's tag, or [Pipeline#NO_TAG].
    long tag() {
        return tag;
    }

    boolean connectionLost() {
        return getServerErrorMessage() == null;
    }
}
