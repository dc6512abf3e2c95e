package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.ChangeQueue;
import dev.pgapply.apply.source.Receiver;
import dev.pgapply.apply.source.ReplicationStream;
import dev.pgapply.apply.target.Durability;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputDecoder;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Changes in flight: the receiver's thread, the progress keeper's thread, and the caller's as the applier.
/// Whatever fails in one of them ends all three, and the first failure is what the caller gets.
final class Streaming {

    private static final long QUEUE_BYTES = 2L << 20;

    private final ReplicationStream stream;
    private final TargetSession session;
    private final Durability durability;
    private final Positions positions;
    private final EngineListener listener;
    private final Duration silence;
    private final Receiver receiver;
    private final ChangeQueue queue = new ChangeQueue(QUEUE_BYTES);
    private final ProgressKeeper keeper;
    private final LockWatch locks;
    private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

    /// When the progress keeper's thread saw a failure first; zero before.
    private long failureSeenAtNanos;

    Streaming(
            ReplicationStream stream,
            TargetSession session,
            Durability durability,
            Lsn start,
            LargeTransactions large,
            EngineListener listener,
            Duration silence) {
        this.stream = stream;
        this.session = session;
        this.durability = durability;
        this.positions = new Positions(start);
        this.listener = listener;
        this.silence = silence;
        this.receiver = new Receiver(
                stream,
                new PgOutputDecoder(),
                large.assembly(),
                queue,
                new Receiver.Positions(positions::confirmed, positions::committed),
                large.start(),
                silence.dividedBy(3),
                warning -> listener.onEvent(new EngineEvent.Warning(warning)));
        this.locks = new LockWatch(durability, positions, listener);
        this.keeper = new ProgressKeeper(durability, positions, listener, silence.dividedBy(6));
    }

    /// Runs until the applier comes to an end; then everything committed is durable and confirmed, as far as
    /// both sides still answer.
    Applier.End run(
            TableGate gate,
            EarlyTransactions early,
            Subscription.Writer limits,
            Lsn until,
            PublicationWatch publications,
            BooleanSupplier stop)
            throws InterruptedException {
        Applier applier = new Applier(queue, session, gate, early, limits, positions, listener);
        Thread receiving = start("pgapply-receiver", receiver::run);
        Thread keeping = start("pgapply-progress", this::keep);
        Thread watching = start("pgapply-publications", publications::run);
        Applier.End end = Applier.End.STOPPED;
        try {
            end = applier.run(until, () -> failure.get() != null || publications.changed() || stop.getAsBoolean());
        } catch (ApplyException e) {
            // If another thread has failed first, this may be no more than the consequence.
            failure.compareAndSet(null, e);
        } finally {
            keeping.interrupt();
            receiving.interrupt();
            watching.interrupt();
            join(watching, publications::abort);
            join(keeping, durability::abort);
            join(receiving, stream::abort);
            receiver.close();
        }
        @Nullable RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        keeper.step(true);
        receiver.farewell();
        return end == Applier.End.STOPPED && publications.changed() && !stop.getAsBoolean()
                ? Applier.End.TABLES_CHANGED
                : end;
    }

    /// A target that does not answer here will not answer the applier either, who may be waiting for it.
    private void keep() throws InterruptedException {
        try {
            keeper.run(this::watch);
        } catch (TargetLost e) {
            failure.compareAndSet(null, e);
            session.abort();
        }
    }

    private void watch() {
        Lsn source = receiver.sourcePosition();
        if (source.isValid()) {
            listener.onEvent(new EngineEvent.SourcePosition(source));
            locks.look(source);
        }
        if (System.nanoTime() - receiver.heardAtNanos() > silence.toNanos()) {
            failure.compareAndSet(
                    null,
                    new SourceLost(
                            ErrorCode.SOURCE_LOST,
                            "the source was silent for " + silence.toSeconds() + " s",
                            "",
                            null));
            stream.abort();
        }
        breakAfterFailure();
    }

    /// The applier ends after the group in hand, unless that waits for something that may never come, a lock
    /// for instance: then nobody would learn of the failure.
    private void breakAfterFailure() {
        if (failure.get() == null) {
            return;
        }
        if (failureSeenAtNanos == 0) {
            failureSeenAtNanos = System.nanoTime();
        } else if (System.nanoTime() - failureSeenAtNanos > silence.dividedBy(6).toNanos()) {
            session.abort();
        }
    }

    private Thread start(String name, Task task) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                task.run();
            } catch (InterruptedException e) {
                // Asked to end.
            } catch (RuntimeException e) {
                failure.compareAndSet(null, e);
            } catch (Error e) {
                failure.compareAndSet(null, new IllegalStateException(name + " died", e));
                throw e;
            }
        });
    }

    @FunctionalInterface
    private interface Task {
        void run() throws InterruptedException;
    }

    /// An interrupt does not reach a thread inside a socket; breaking the connection does.
    private static void join(Thread thread, Runnable breakConnection) throws InterruptedException {
        if (!thread.join(Duration.ofSeconds(3))) {
            breakConnection.run();
            thread.join();
        }
    }
}
