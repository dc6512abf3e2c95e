package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pgapply.apply.source.ReplicationStream;
import dev.pgapply.decoder.Lsn;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// One connection to the [SimulatedSource]: sends from a position on, and hands each status to a check.
final class SimulatedStream implements ReplicationStream {

    /// Gives the thread back to the simulation in the middle of the receiver's loop.
    static final class Pause extends RuntimeException {
        private Pause() {
            super("pause", null, false, false);
        }
    }

    private final SimulatedSource source;
    private final RandomGenerator random;
    private final Consumer<Lsn> onFlushed;
    private final Lsn from;
    private final Deque<byte[]> messages = new ArrayDeque<>(SimulatedSource.relations());
    private int next;
    private Lsn decoded;
    private int readsLeft;

    private Lsn written = Lsn.INVALID;
    private Lsn flushed = Lsn.INVALID;
    private Lsn applied = Lsn.INVALID;

    SimulatedStream(SimulatedSource source, Lsn from, RandomGenerator random, Consumer<Lsn> onFlushed) {
        this.source = source;
        this.random = random;
        this.onFlushed = onFlushed;
        this.from = from;
        this.decoded = from;
    }

    /// How many reads come before the next [Pause].
    void allow(int reads) {
        readsLeft = reads;
    }

    @Override
    public boolean read(Handler handler) {
        if (readsLeft-- <= 0) {
            throw new Pause();
        }
        if (messages.isEmpty() && random.nextInt(4) == 0) {
            handler.keepalive(keepalivePosition(), random.nextBoolean());
            return true;
        }
        if (!messages.isEmpty() && random.nextInt(30) == 0) {
            // In the middle of a transaction the server tells how far it has read.
            handler.keepalive(decoded, random.nextBoolean());
            return true;
        }
        while (messages.isEmpty() && next < source.transactions().size()) {
            SimulatedSource.Transaction transaction = source.transactions().get(next++);
            if (!transaction.finalLsn().isBefore(from)) {
                messages.addAll(source.messages(transaction));
                decoded = transaction.finalLsn();
            }
        }
        byte[] message = messages.poll();
        if (message == null) {
            return false;
        }
        handler.data(message, 0, message.length);
        return true;
    }

    private Lsn keepalivePosition() {
        if (next == source.transactions().size()) {
            decoded = source.walEnd();
        } else if (next > 0) {
            decoded = decoded.max(source.transactions().get(next - 1).endLsn());
        }
        return decoded;
    }

    @Override
    public void status(Lsn written, Lsn flushed, Lsn applied, boolean replyRequested) {
        assertFalse(written.isBefore(this.written), "written goes back");
        assertFalse(flushed.isBefore(this.flushed), "flushed goes back");
        assertFalse(applied.isBefore(this.applied), "applied goes back");
        assertFalse(applied.isBefore(flushed), "flushed but not applied");
        this.written = written;
        this.flushed = flushed;
        this.applied = applied;
        onFlushed.accept(flushed);
        source.confirm(flushed);
    }

    @Override
    public void close() {}

    @Override
    public void abort() {}
}
