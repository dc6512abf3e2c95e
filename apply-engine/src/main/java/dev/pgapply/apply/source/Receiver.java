package dev.pgapply.apply.source;

import dev.pgapply.apply.ApplyException.ProtocolViolation;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.MalformedMessageException;
import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.PgOutputMessage;
import dev.pgapply.decoder.transaction.Change;
import dev.pgapply.decoder.transaction.FullDisk;
import dev.pgapply.decoder.transaction.OpenTransaction;
import dev.pgapply.decoder.transaction.SpoolException;
import dev.pgapply.decoder.transaction.TransactionAssembler;
import dev.pgapply.decoder.transaction.TransactionEvent;
import dev.pgapply.decoder.transaction.UnexpectedMessageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Reads the stream, puts committed changes into the queue and sends the feedback: the only thread that touches
/// the replication connection. It never waits for the target longer than a tenth of a second without sending
/// what is due.
public final class Receiver implements ReplicationStream.Handler, AutoCloseable {

    private static final int BATCH_EVENTS = 512;
    private static final long BATCH_BYTES = 256 << 10;
    private static final int MESSAGES_PER_FEEDBACK_LOOK = 64;
    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final Duration BETWEEN_WRITES = Duration.ofSeconds(1);

    /// What the rest of the engine knows; read here, written elsewhere.
    ///
    /// @param durable what may be confirmed as flushed
    /// @param committed what is committed on the target, perhaps not on its disk yet
    public record Positions(Supplier<Lsn> durable, Supplier<Lsn> committed) {}

    /// Makes the assembler.
    @FunctionalInterface
    public interface Assembly {

        /// @param fullDisk what the receiver does meanwhile
        /// @param received everything that was committed before has come; for the receiver's thread
        TransactionAssembler make(FullDisk fullDisk, Supplier<Lsn> received);
    }

    private final ReplicationStream stream;
    private final PgOutputDecoder decoder;
    private final TransactionAssembler assembler;
    private final ChangeQueue queue;
    private final Positions positions;
    private final Feedback feedback;
    private final Consumer<String> warn;

    private List<TransactionEvent> events = new ArrayList<>(BATCH_EVENTS);
    private long eventBytes;
    private boolean inTransaction;
    private Lsn idleAt = Lsn.INVALID;
    private Lsn received;
    private boolean replyRequested;
    private int messagesSinceLook;
    private boolean heard;

    /// Written by the receiver, read by the thread that watches over it.
    private volatile long heardAtNanos = System.nanoTime();

    private volatile Lsn sourcePosition = Lsn.INVALID;

    /// @param askAfter how long the server may be silent before it is asked for an answer
    /// @param warn hears what a person should know
    public Receiver(
            ReplicationStream stream,
            PgOutputDecoder decoder,
            Assembly assembly,
            ChangeQueue queue,
            Positions positions,
            Lsn start,
            Duration askAfter,
            Consumer<String> warn) {
        this.stream = stream;
        this.decoder = decoder;
        this.assembler = assembly.make(this::awaitSpace, () -> received);
        this.queue = queue;
        this.positions = positions;
        this.received = start;
        this.warn = warn;
        this.feedback = new Feedback(askAfter, System.nanoTime());
    }

    /// Receives until it is interrupted or the stream breaks.
    public void run() throws InterruptedException {
        while (!Thread.interrupted()) {
            if (read()) {
                messagesSinceLook++;
                heard = true;
                if (events.size() >= BATCH_EVENTS || eventBytes >= BATCH_BYTES) {
                    handOver();
                }
            } else {
                handOver();
                messagesSinceLook = MESSAGES_PER_FEEDBACK_LOOK;
            }
            if (replyRequested || messagesSinceLook >= MESSAGES_PER_FEEDBACK_LOOK) {
                messagesSinceLook = 0;
                sendFeedback();
            }
        }
        throw new InterruptedException();
    }

    private boolean read() throws InterruptedException {
        try {
            return stream.read(this);
        } catch (Interrupted e) {
            throw new InterruptedException();
        }
    }

    /// When the server was last heard, or the queue was last full, by `System.nanoTime()`; any thread may ask.
    public long heardAtNanos() {
        return heardAtNanos;
    }

    /// The newest position that the source told; any thread may ask.
    public Lsn sourcePosition() {
        return sourcePosition;
    }

    /// Sends what is due for the last time; only after [#run] has ended, by the thread that ends it.
    public void farewell() {
        replyRequested = true;
        sendFeedback();
    }

    /// Removes what is spooled; only after [#run] has ended.
    @Override
    public void close() {
        try {
            assembler.close();
        } catch (SpoolException e) {
            // Nothing in it is needed any more.
            warn.accept(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void data(byte[] bytes, int offset, int length) {
        PgOutputMessage message;
        try {
            message = decoder.decode(bytes, offset, length);
            assembler.accept(message, bytes, offset, length, this::add);
        } catch (SpoolException e) {
            throw SpoolErrors.translate(e);
        } catch (MalformedMessageException | UnexpectedMessageException e) {
            throw new ProtocolViolation("the source sent a message that cannot be: " + e.getMessage(), received, e);
        }
    }

    private void add(TransactionEvent event) {
        events.add(event);
        eventBytes += event.retainedBytes();
        switch (event) {
            case TransactionEvent.Begin begin -> {
                inTransaction = true;
                sourcePosition = sourcePosition.max(begin.finalLsn());
            }
            case TransactionEvent.Commit commit -> ended(commit.endLsn());
            case TransactionEvent.Prepare prepare -> ended(prepare.endLsn());
            case TransactionEvent.CommitPrepared committed -> ended(committed.endLsn());
            case TransactionEvent.RollbackPrepared rolledBack -> ended(rolledBack.rollbackEndLsn());
            case Change ignored -> {}
            case TransactionEvent.Message message -> passed(message);
            case TransactionEvent.Kept kept -> ended(kept.endLsn());
            case OpenTransaction ignored -> {}
        }
    }

    /// One that stands between transactions says how far the source is.
    private void passed(TransactionEvent.Message message) {
        if (!message.transactional()) {
            sourcePosition = sourcePosition.max(message.lsn());
        }
    }

    /// Carries an interrupt through code that knows nothing of interrupts.
    private static final class Interrupted extends RuntimeException {
        private static final long serialVersionUID = 1;

        Interrupted(InterruptedException cause) {
            super(cause);
        }
    }

    /// While the spool's disk is full the server waits, but hears of us.
    private void awaitSpace(SpoolException.DiskFull full, int waits) {
        if (waits == 0) {
            warn.accept(full.getMessage() + ": reading waits until there is room");
        }
        long end = System.nanoTime() + BETWEEN_WRITES.toNanos();
        while (System.nanoTime() < end) {
            try {
                Thread.sleep(PATIENCE);
            } catch (InterruptedException e) {
                throw new Interrupted(e);
            }
            heardAtNanos = System.nanoTime();
            sendFeedback();
        }
    }

    private void ended(Lsn endLsn) {
        inTransaction = false;
        received = received.max(endLsn);
        sourcePosition = sourcePosition.max(endLsn);
    }

    @Override
    public void keepalive(Lsn walEnd, boolean replyRequested) {
        this.replyRequested |= replyRequested;
        sourcePosition = sourcePosition.max(walEnd);
        if (!inTransaction) {
            received = received.max(walEnd);
            idleAt = idleAt.max(walEnd);
        }
    }

    private void handOver() throws InterruptedException {
        if (events.isEmpty() && !idleAt.isValid()) {
            return;
        }
        ChangeQueue.Batch batch = new ChangeQueue.Batch(events, eventBytes, inTransaction ? Lsn.INVALID : idleAt);
        while (!queue.offer(batch, PATIENCE)) {
            heardAtNanos = System.nanoTime();
            sendFeedback();
        }
        events = new ArrayList<>(BATCH_EVENTS);
        eventBytes = 0;
        idleAt = Lsn.INVALID;
    }

    private void sendFeedback() {
        long now = System.nanoTime();
        if (heard) {
            heard = false;
            heardAtNanos = now;
        }
        Feedback.Status status = feedback.due(
                now,
                heardAtNanos,
                received,
                confirmable(),
                positions.committed().get(),
                replyRequested);
        if (status != null) {
            stream.status(status.written(), status.flushed(), status.applied(), status.ask());
            replyRequested = false;
        }
    }

    /// What is durable, but nothing from a transaction on that only the assembler has, or that is still to come
    /// again: a stream may begin before the target's progress just for that one.
    private Lsn confirmable() {
        Lsn durable = positions.durable().get().min(received);
        return assembler.heldFrom(durable).map(durable::min).orElse(durable);
    }
}
