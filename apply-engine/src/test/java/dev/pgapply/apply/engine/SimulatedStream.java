package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pgapply.apply.engine.SimulatedSource.Entry;
import dev.pgapply.apply.engine.SimulatedSource.Inserted;
import dev.pgapply.apply.engine.SimulatedSource.Step;
import dev.pgapply.apply.engine.SimulatedSource.Transaction;
import dev.pgapply.apply.source.ReplicationStream;
import dev.pgapply.decoder.Lsn;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/// One connection to the [SimulatedSource]: sends what a server would from a position on, and hands each status
/// to a check.
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
    private final boolean streaming;
    private final Deque<byte[]> messages = new ArrayDeque<>();
    /// How many steps of an open transaction were sent.
    private final Map<Integer, Integer> sent = new HashMap<>();

    private int next;
    private Lsn decoded;
    private int readsLeft;

    private Lsn written = Lsn.INVALID;
    private Lsn flushed = Lsn.INVALID;
    private Lsn applied = Lsn.INVALID;

    /// @param streaming send blocks of transactions that are open
    SimulatedStream(
            SimulatedSource source, Lsn from, boolean streaming, RandomGenerator random, Consumer<Lsn> onFlushed) {
        this.source = source;
        this.random = random;
        this.onFlushed = onFlushed;
        this.from = from;
        this.streaming = streaming;
        this.decoded = from;
        SimulatedSource.TABLES.forEach(table -> messages.add(SimulatedMessages.relation(0, table)));
    }

    /// How far the receiver knows the source to be.
    Lsn told() {
        return decoded;
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
        while (messages.isEmpty() && next < source.log().size()) {
            Entry entry = source.log().get(next++);
            send(entry);
            if (!messages.isEmpty()) {
                decoded = decoded.max(entry.lsn());
            }
        }
        byte[] message = messages.poll();
        if (message == null) {
            return false;
        }
        handler.data(message, 0, message.length);
        return true;
    }

    private void send(Entry entry) {
        Transaction transaction = entry.transaction();
        if (entry.lsn().isBefore(from)) {
            return;
        }
        switch (entry) {
            case Entry.Block block -> {
                if (streaming) {
                    block(transaction, block.steps());
                }
            }
            case Entry.Prepared ignored -> prepare(transaction);
            case Entry.Ended ignored -> end(transaction);
        }
    }

    /// Everything up to here that was not sent: also what lay before the position from which this stream began.
    private void block(Transaction transaction, int upTo) {
        Integer before = sent.put(transaction.xid(), upTo);
        boolean first = before == null;
        int from = first ? 0 : before;
        List<Step> steps = transaction.steps().subList(from, upTo);
        boolean inBlock = false;
        Set<Object> described = new HashSet<>();
        for (Step step : steps) {
            switch (step) {
                case Step.Row row -> {
                    if (!inBlock) {
                        messages.add(SimulatedMessages.streamStart(transaction.xid(), first));
                        first = false;
                        inBlock = true;
                    }
                    if (described.add(row.inserted().table()) || random.nextInt(5) == 0) {
                        messages.add(SimulatedMessages.relation(
                                row.subxid(), row.inserted().table()));
                    }
                    messages.add(SimulatedMessages.insert(row.subxid(), row.inserted()));
                }
                case Step.RollbackTo undone -> {
                    if (inBlock) {
                        messages.add(SimulatedMessages.streamStop());
                        inBlock = false;
                    }
                    if (!first) {
                        messages.add(SimulatedMessages.streamAbort(transaction.xid(), undone.subxid()));
                        described.clear();
                    }
                }
            }
        }
        if (inBlock) {
            messages.add(SimulatedMessages.streamStop());
        } else if (first) {
            sent.remove(transaction.xid());
        }
    }

    private void prepare(Transaction transaction) {
        if (sent.containsKey(transaction.xid())) {
            block(transaction, transaction.steps().size());
            messages.add(SimulatedMessages.streamPrepare(transaction));
            sent.remove(transaction.xid());
        } else {
            prepareWhole(transaction);
        }
    }

    private void prepareWhole(Transaction transaction) {
        messages.add(SimulatedMessages.beginPrepare(transaction));
        rows(transaction);
        messages.add(SimulatedMessages.prepare(transaction));
    }

    private void end(Transaction transaction) {
        if (transaction.isPrepared()) {
            endPrepared(transaction);
        } else if (sent.containsKey(transaction.xid())) {
            if (transaction.isCommitted()) {
                block(transaction, transaction.steps().size());
                messages.add(SimulatedMessages.streamCommit(transaction));
            } else {
                messages.add(SimulatedMessages.streamAbort(transaction.xid(), transaction.xid()));
            }
            sent.remove(transaction.xid());
        } else if (transaction.isCommitted()) {
            // An empty one is sent as old servers do, or not at all.
            if (!transaction.rows().isEmpty() || random.nextBoolean()) {
                messages.add(SimulatedMessages.begin(transaction));
                rows(transaction);
                messages.add(SimulatedMessages.commit(transaction));
            }
        }
    }

    private void endPrepared(Transaction transaction) {
        if (transaction.isRolledBack()) {
            messages.add(SimulatedMessages.rollbackPrepared(transaction));
            return;
        }
        if (transaction.prepareLsn().isBefore(source.twoPhaseAt())) {
            prepareWhole(transaction);
        }
        messages.add(SimulatedMessages.commitPrepared(transaction));
    }

    private void rows(Transaction transaction) {
        for (Inserted row : transaction.rows()) {
            if (random.nextInt(3) == 0) {
                messages.add(SimulatedMessages.relation(0, row.table()));
            }
            messages.add(SimulatedMessages.insert(0, row));
        }
    }

    private Lsn keepalivePosition() {
        if (next == source.log().size()) {
            decoded = source.walEnd();
        } else if (next > 0) {
            decoded = decoded.max(end(source.log().get(next - 1)));
        }
        return decoded;
    }

    private static Lsn end(Entry entry) {
        return switch (entry) {
            case Entry.Block block -> block.lsn();
            case Entry.Prepared prepared -> prepared.transaction().prepareEndLsn();
            case Entry.Ended ended -> ended.transaction().endLsn();
        };
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
