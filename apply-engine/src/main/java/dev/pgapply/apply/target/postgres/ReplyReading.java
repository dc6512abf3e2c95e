package dev.pgapply.apply.target.postgres;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Who reads the replies of a round: the pipeline's own thread at the round's end, or a thread that lives from
/// the first overflow of the output to the round's end. A thread per round costs less than the time in which
/// the server works off one buffer of statements, and none is left behind.
final class ReplyReading {

    private final PipelineReplies replies;
    private final Closeable transport;
    private @Nullable Thread reader;

    // Written by the thread that reads, read by the pipeline's after that has ended.
    private @Nullable Throwable failure;

    /// @param transport is closed when reading fails, so that no write waits for a server that nobody listens
    ///     to
    ReplyReading(PipelineReplies replies, Closeable transport) {
        this.replies = replies;
        this.transport = transport;
    }

    boolean hasBegun() {
        return reader != null;
    }

    void begin() {
        if (reader == null) {
            reader = Thread.ofPlatform().daemon().name("pgapply-replies").start(this::read);
        }
    }

    /// Waits until the round's replies are read.
    void finish() throws IOException {
        if (reader == null) {
            read();
        } else {
            join(reader, 0);
            reader = null;
        }
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    /// After a failure: gives the server's last words a chance to arrive, then closes the connection.
    void abandon(int millis) {
        if (failure == null) {
            begin();
        }
        if (reader != null) {
            join(reader, millis);
        }
        close();
        if (reader != null) {
            join(reader, 0);
            reader = null;
        }
    }

    void close() {
        try {
            transport.close();
        } catch (IOException e) {
            // Nothing depends on how it was closed: whoever reads or writes finds it unusable.
            return;
        }
    }

    private void read() {
        try {
            replies.readRound();
        } catch (Throwable e) {
            failure = e;
            close();
        }
    }

    private static void join(Thread thread, int millis) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join(millis);
                break;
            } catch (InterruptedException e) {
                // This wait is ended by closing the pipeline; the interrupt is for what comes after it.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
