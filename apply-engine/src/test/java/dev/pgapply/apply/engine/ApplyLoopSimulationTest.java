package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.ChangeQueue;
import dev.pgapply.apply.source.Receiver;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.EarlyDelivery;
import dev.pgapply.decoder.transaction.SpoolSettings;
import dev.pgapply.decoder.transaction.TransactionAssembler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Receiver, applier and progress keeper, driven by one thread in a random order that a seed gives, against a
/// source and a target that are made for it. Engines and targets crash at any step, replies to commits are
/// lost, and the source sends again what it was not told about. Some transactions are told of while they are open,
/// interleaved, with savepoints that are rolled back; some are prepared, some were before the slot or a copy.
///
/// Long runs: `-Dpgapply.seeds=10000`.
final class ApplyLoopSimulationTest {

    private static final long FIRST_SEED = Long.getLong("pgapply.seed", 1);

    @TempDir
    private Path directory;

    @Test
    void everyCommitOfTheSourceIsOnTheTargetOnceWhateverCrashes() throws InterruptedException {
        int seeds = Integer.getInteger("pgapply.seeds", 200);
        AtomicInteger crashes = new AtomicInteger();
        for (long seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
            try {
                new Simulation(new SplittableRandom(seed), directory, crashes).run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e, e);
            }
        }
        assertTrue(crashes.get() >= seeds, "the simulation has lost its faults: " + crashes);
    }

    /// One source and one target through the lives of several engines.
    private static final class Simulation {

        private static final int EPISODES = 12;
        /// Room for what the receiver hands over at once beside what waits.
        private static final long QUEUE_BYTES = 600 << 10;
        private static final Duration LONG = Duration.ofHours(1);

        private final RandomGenerator random;
        private final AtomicInteger crashes;
        private final SimulatedSource source;
        private final SimulatedTarget target;
        private final Subscription.Writer limits;
        /// How many rows of each table have been found to be right, so that each is compared once.
        private final Map<TableName, Integer> compared = new HashMap<>();

        private final SpoolSettings spool;
        private final boolean streaming;
        private final boolean twoPhase;
        private final int early;
        private boolean latePublished;

        Simulation(RandomGenerator random, Path directory, AtomicInteger crashes) {
            this.random = random;
            this.crashes = crashes;
            streaming = random.nextInt(3) != 0;
            twoPhase = random.nextBoolean();
            early = random.nextInt(3);
            spool = new SpoolSettings(directory, random.nextBoolean() ? 0 : 1 << 20, Long.MAX_VALUE);
            source = new SimulatedSource(random, streaming, twoPhase);
            for (int i = random.nextInt(10); i > 0; i--) {
                source.advance(false);
            }
            source.makeSlot();
            target = new SimulatedTarget(random, source.walEnd());
            target.copy(SimulatedSource.OLD, source.walEnd(), source.rowsBefore(SimulatedSource.OLD, source.walEnd()));
            for (int i = random.nextInt(20); i > 0; i--) {
                source.advance(false);
            }
            copy(SimulatedSource.COPIED);
            limits = new Subscription.Writer(
                    random.nextInt(4) != 0,
                    random.nextInt(1, 300),
                    random.nextInt(500, 60_000),
                    random.nextBoolean() ? Duration.ZERO : LONG,
                    false);
        }

        private void copy(TableName table) {
            target.copy(table, source.walEnd(), source.rowsBefore(table, source.walEnd()));
        }

        void run() throws InterruptedException {
            for (int i = 0; i < EPISODES; i++) {
                latePublished |= random.nextInt(4) == 0;
                target.faults(random.nextInt(6));
                new Episode().run(random.nextInt(200));
            }
            target.faults(0);
            source.endAll();
            new Episode().finish();
            assertFalse(target.hasPrepared(), "a prepared transaction is left");
        }

        private void check() {
            if (target.isAheadOfProgress()) {
                return;
            }
            Lsn progress = target.progress();
            target.copyLsns().forEach((table, copyLsn) -> {
                List<String> wanted = source.rowsBefore(table, copyLsn.max(progress));
                List<String> there = target.rows(table);
                assertEquals(wanted.size(), there.size(), () -> "rows of " + table + " at " + progress);
                int known = Math.min(compared.getOrDefault(table, 0), there.size());
                assertEquals(wanted.subList(known, wanted.size()), there.subList(known, there.size()));
                compared.put(table, there.size());
            });
            assertTrue(target.rows(SimulatedSource.GONE).isEmpty(), "a table that is not followed");
        }

        /// One engine, from its start to its crash or end.
        private final class Episode {

            private final SimulatedTarget.Session session;
            private final ChangeQueue queue = new ChangeQueue(QUEUE_BYTES);
            private final Positions positions;
            private final SimulatedStream stream;
            private final Receiver receiver;
            private final Applier applier;
            private final ProgressKeeper keeper;
            private boolean nested;

            Episode() {
                if (latePublished && !target.copyLsns().containsKey(SimulatedSource.LATE) && random.nextBoolean()) {
                    copy(SimulatedSource.LATE);
                }
                session = target.open(limits);
                SlotCheck check = new SlotCheck(new SlotCheck.Source("1", "db", Lsn.INVALID), "slot");
                Lsn progress = session.progress();
                assertEquals(
                        new SlotCheck.Decision.Resume(progress),
                        check.decide(Optional.of(source.slot()), target.record(), progress));
                positions = new Positions(progress);
                // A kept prepared transaction may lie before the progress, so with them the slot says where to begin.
                Lsn from = twoPhase ? source.confirmed() : source.confirmed().max(progress);
                stream = new SimulatedStream(source, from, streaming, random, this::requireDurable);
                TableGate gate = new TableGate(
                        progress, progress.max(target.stored()), target.copyLsns(), Set.of(SimulatedSource.GONE));
                receiver = new Receiver(
                        stream,
                        new PgOutputDecoder(),
                        (fullDisk, received) -> new TransactionAssembler(
                                spool,
                                gate.settledFrom(),
                                new EarlyDelivery(early, () -> !received.get().isBefore(gate.settledFrom())),
                                fullDisk),
                        queue,
                        new Receiver.Positions(positions::confirmed, positions::committed),
                        from,
                        LONG,
                        warning -> {});
                EarlyTransactions early =
                        new EarlyTransactions((number, listener) -> target.early(), gate, limits, event -> {});
                applier = new Applier(queue, session, gate, early, limits, positions, event -> {});
                keeper = new ProgressKeeper(target.durability(this::meanwhile), positions, event -> {}, LONG);
            }

            /// The server may throw away everything before this position now.
            private void requireDurable(Lsn flushed) {
                assertFalse(
                        flushed.isAfter(target.durableProgress().max(target.stored())),
                        "flushed is ahead of what is stored");
                Lsn durable = target.durableProgress();
                target.copyLsns().forEach((table, copyLsn) -> {
                    Lsn there = copyLsn.max(durable);
                    assertEquals(
                            source.rowsBefore(table, there.max(flushed)).size(),
                            source.rowsBefore(table, there).size(),
                            "flushed is ahead of rows that are durable");
                });
                source.transactions().stream()
                        .filter(transaction -> transaction.isPrepared()
                                && transaction.prepareLsn().isBefore(flushed)
                                && !transaction.prepareLsn().isBefore(source.twoPhaseAt())
                                && !transaction.isRolledBack()
                                && !(transaction.isCommitted()
                                        && transaction
                                                .finalLsn()
                                                .isBefore(flushed.max(durable)
                                                        .max(source.confirmed())
                                                        .max(target.stored()))))
                        .forEach(transaction -> assertTrue(
                                target.wouldHold(transaction.xid()),
                                () -> "flushed, " + flushed + ", is ahead of transaction " + transaction.xid()
                                        + " prepared at " + transaction.prepareLsn() + ", decided at "
                                        + transaction.finalLsn()));
            }

            void run(int steps) throws InterruptedException {
                try (receiver) {
                    for (int i = 0; i < steps; i++) {
                        if (step()) {
                            return;
                        }
                        check();
                    }
                    if (random.nextInt(4) == 0) {
                        farewell();
                        return;
                    }
                } catch (TargetLost e) {
                    // The engine starts again, as after a kill.
                }
                crashes.incrementAndGet();
                if (random.nextBoolean()) {
                    target.crash();
                    compared.clear();
                }
                check();
            }

            /// @return whether the engine has come to an end by itself
            private boolean step() throws InterruptedException {
                switch (random.nextInt(8)) {
                    case 0, 1 -> source.advance(latePublished);
                    case 2, 3, 4 -> receive(random.nextInt(60));
                    case 5, 6 -> {
                        return apply() == Applier.End.TABLES_CHANGED;
                    }
                    default -> keeper.step(random.nextBoolean());
                }
                return false;
            }

            private void receive(int reads) throws InterruptedException {
                // A receiver that meets a full queue waits; here it has to be somebody else's turn then.
                if (queue.bytes() > QUEUE_BYTES / 2) {
                    return;
                }
                stream.allow(reads);
                try {
                    receiver.run();
                } catch (SimulatedStream.Pause e) {
                    // Its next turn begins where this one ended.
                }
                assertTrue(queue.bytes() <= QUEUE_BYTES, "the queue holds too much");
            }

            private Applier.End apply() throws InterruptedException {
                if (queue.isEmpty()) {
                    return Applier.End.STOPPED;
                }
                AtomicInteger asked = new AtomicInteger();
                return applier.run(Lsn.INVALID, () -> asked.getAndIncrement() > 0);
            }

            /// While the keeper waits for the target, the others go on.
            private void meanwhile() {
                if (nested || random.nextBoolean()) {
                    return;
                }
                nested = true;
                try {
                    if (apply() != Applier.End.TABLES_CHANGED) {
                        receive(random.nextInt(20));
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    nested = false;
                }
            }

            private void farewell() {
                keeper.step(true);
                receiver.farewell();
                check();
            }

            /// Until everything is applied and confirmed.
            void finish() throws InterruptedException {
                try (receiver) {
                    drain();
                }
            }

            private void drain() throws InterruptedException {
                Lsn end = source.walEnd();
                while (positions.committed().isBefore(end) || stream.told().isBefore(end)) {
                    receive(100);
                    while (!queue.isEmpty()) {
                        if (apply() == Applier.End.TABLES_CHANGED) {
                            copy(SimulatedSource.LATE);
                            new Episode().finish();
                            return;
                        }
                    }
                }
                farewell();
                assertFalse(source.confirmed().isBefore(end), "not everything is confirmed");
                target.copyLsns()
                        .keySet()
                        .forEach(table -> assertEquals(source.rowsBefore(table, source.walEnd()), target.rows(table)));
            }
        }
    }
}
