package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.decoder.Lsn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What others have lost data by: processes that commit after their death, slots that were moved, positions
/// that outlive a rollback or a crash.
final class TrapsIT {

    private static final Duration MINUTE = Duration.ofSeconds(60);

    private static PostgresServer sourceServer;
    private static PostgresServer targetServer;

    @BeforeAll
    static void startServersOfItsOwn() {
        sourceServer = PostgresServer.major(TestServers.NEWEST)
                .setting("max_slot_wal_keep_size", "32MB")
                .setting("max_wal_size", "64MB")
                .start();
        targetServer = PostgresServer.major(TestServers.NEWEST)
                .setting("wal_writer_delay", "10s")
                .start();
    }

    @AfterAll
    static void stopThem() {
        sourceServer.close();
        targetServer.close();
    }

    private static Replication replication() {
        return Replication.of(
                new TestServer.Embedded(sourceServer).database(), new TestServer.Embedded(targetServer).database());
    }

    /// B080: from version 14 on the server sees by itself that its client is gone; before that it commits what it has
    /// received whenever it can.
    @ParameterizedTest
    @CsvSource({"18, false", "13, false", "13, true"})
    void whatAKilledInstanceHasSentIsCommittedOnceOrNever(int targetMajor, boolean lockedForLong) throws SQLException {
        try (Replication replication = Replication.between(TestServers.NEWEST, targetMajor)) {
            TestDatabase target = replication.target();
            replication.both("CREATE TABLE bag (i int)");
            replication.source().execute("INSERT INTO bag VALUES (0)");
            replication.applyUntilNow();
            try (Connection holder = target.connect();
                    Statement lock = holder.createStatement()) {
                holder.setAutoCommit(false);
                lock.execute("LOCK TABLE bag IN ACCESS EXCLUSIVE MODE");
                try (Launcher first = replication.run()) {
                    replication.source().execute("INSERT INTO bag VALUES (1)", "INSERT INTO bag VALUES (1), (2)");
                    awaitWaiting(replication, "INSERT");
                    first.kill();
                }
                String rest = waiting(replication, "INSERT").orElse("0");
                try (Launcher second = replication.run()) {
                    if (lockedForLong || targetMajor >= 14) {
                        replication.awaitOnTarget("0", "SELECT count(*) FROM pg_stat_activity WHERE pid = " + rest);
                    } else {
                        replication.awaitOnTarget(
                                "1",
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgapply/"
                                        + replication.name() + "' AND query LIKE '%instance_host%'");
                    }
                    holder.rollback();
                    replication.awaitApplied();
                    assertTrue(second.isRunning(), second::stderr);
                    replication.assertIdentical();
                }
            }
        }
    }

    private static Optional<String> waiting(Replication replication, String verb) {
        return replication
                .target()
                .query("SELECT pid FROM pg_stat_activity WHERE application_name = 'pgapply/" + replication.name()
                        + "' AND wait_event_type = 'Lock' AND query LIKE '%" + verb + "%'");
    }

    private static void awaitWaiting(Replication replication, String verb) {
        Await.until(
                "the writing session waits for the lock",
                () -> waiting(replication, verb).isPresent());
    }

    /// The same of a copy whose COMMIT was held up, by a standby that did not answer for instance.
    @ParameterizedTest
    @EnumSource(Subscription.TargetRows.class)
    void aTableThatAKilledCopyCommitsLateIsNotCopiedAgain(Subscription.TargetRows targetRows) throws SQLException {
        try (Replication replication = replication().with(setup -> setup.targetRows = targetRows)) {
            TestDatabase target = replication.target();
            replication.both("CREATE TABLE bag (i int)");
            replication.source().execute("INSERT INTO bag VALUES (1), (1)");
            replication.applyUntilNow();
            target.execute("UPDATE pgapply.table_state SET state = 'INIT', copy_lsn = '0/0'", "TRUNCATE bag");
            try (Connection killed = target.connect();
                    Statement rest = killed.createStatement()) {
                killed.setAutoCommit(false);
                rest.execute("SELECT FROM pgapply.table_state FOR UPDATE");
                rest.execute("INSERT INTO bag VALUES (1), (1)");
                rest.execute("UPDATE pgapply.table_state SET state = 'COPIED', copy_lsn = '" + replication.confirmed()
                        + "'");
                try (EngineRun run = replication.engine()) {
                    awaitWaiting(replication, "table_state");
                    killed.commit();
                    replication.source().execute("INSERT INTO bag VALUES (2)");
                    replication.awaitApplied();
                    replication.assertIdentical();
                    run.assertRunning();
                }
            }
        }
    }

    /// The copy's snapshot is held together with a lock on each table; who waits for that lock goes before
    /// every later reader.
    @ParameterizedTest
    @ValueSource(strings = {"bag", "tree", "tree_1"})
    void whoWaitsToEmptyATableDoesNotHoldUpItsCopy(String emptied) throws SQLException, InterruptedException {
        try (Replication replication = replication().with(setup -> {
            setup.publications = List.of("roots");
            setup.tableJobs = 1;
        })) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            replication.both(
                    "CREATE TABLE first (i int)",
                    "CREATE TABLE bag (i int)",
                    "CREATE TABLE tree (i int) PARTITION BY RANGE (i)",
                    "CREATE TABLE tree_1 PARTITION OF tree FOR VALUES FROM (0) TO (10)");
            source.execute(
                    "CREATE PUBLICATION roots FOR TABLE first, bag, tree WITH (publish_via_partition_root = true)");
            source.execute(
                    "INSERT INTO first SELECT generate_series(1, 10000)",
                    "INSERT INTO bag VALUES (1), (1)",
                    "INSERT INTO tree VALUES (1), (2)");
            try (Connection holder = target.connect();
                    Statement hold = holder.createStatement()) {
                holder.setAutoCommit(false);
                hold.execute("LOCK TABLE first IN SHARE MODE");
                try (EngineRun run = replication.engine()) {
                    awaitWaiting(replication, "COPY");
                    Thread emptying = Thread.ofPlatform().start(() -> source.execute("TRUNCATE " + emptied));
                    Await.until(
                            "TRUNCATE waits for the copy",
                            () -> source.query("SELECT count(*) FROM pg_locks WHERE NOT granted"
                                            + " AND mode = 'AccessExclusiveLock'")
                                    .equals(Optional.of("1")));
                    holder.rollback();
                    replication.awaitCopied();
                    emptying.join();
                    replication.awaitApplied();
                    run.assertRunning();
                }
            }
            assertEquals(List.of("bag", "tree"), copiedWithTwoRows(target));
        }
    }

    private static List<String> copiedWithTwoRows(TestDatabase target) {
        return target.queryAll("SELECT table_name FROM pgapply.table_state WHERE rows_copied = 2 ORDER BY table_name");
    }

    /// B084: dropped, re-created, advanced by hand.
    @Test
    void aSlotThatSomebodyElseHasMovedIsAGapThatIsNamed() {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            String slot = "'pgapply_" + replication.name() + "'";
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            source.execute("INSERT INTO t VALUES (1)");
            replication.applyUntilNow();
            Lsn known = known(replication);

            source.execute("INSERT INTO t VALUES (2)");
            source.queryAll("SELECT pg_replication_slot_advance(" + slot + ", pg_current_wal_lsn())");
            source.execute("INSERT INTO t VALUES (3)");
            expectSlotLost(
                    replication, known.toString(), replication.confirmed().toString());

            source.queryAll("SELECT pg_drop_replication_slot(" + slot + ")");
            expectSlotLost(replication, known.toString());

            source.queryAll("SELECT pg_create_logical_replication_slot(" + slot + ", 'pgoutput')");
            source.execute("INSERT INTO t VALUES (4)");
            expectSlotLost(
                    replication, known.toString(), replication.confirmed().toString());
            try (Launcher run = replication.run()) {
                FailedRun.expect(run, 7, "SLOT_LOST", known.toString());
            }
            assertEquals(List.of("(1)"), replication.target().rows("t"), "nothing is applied behind a gap");
        }
    }

    /// How far the target is: its progress, or a later position that had nothing for it.
    private static Lsn known(Replication replication) {
        return replication
                .progress()
                .max(Lsn.parse(replication
                        .target()
                        .query("SELECT confirmed_lsn FROM pgapply.subscription WHERE name = '" + replication.name()
                                + "'")
                        .orElseThrow()));
    }

    private static void expectSlotLost(Replication replication, String... says) {
        try (EngineRun run = replication.engine()) {
            expectSlotLost(run, says);
        }
    }

    private static void expectSlotLost(EngineRun run, String... says) {
        ApplyException lost = run.awaitFailure();
        assertEquals(ErrorCode.SLOT_LOST, lost.code(), lost.getMessage());
        for (String text : says) {
            assertTrue(String.valueOf(lost.getMessage()).contains(text), lost.getMessage());
        }
    }

    /// B084: the source has thrown away what the slot needs, while the engine was away.
    @Test
    void aSlotInvalidatedWhileNobodyReadItIsLost() {
        try (Replication replication = replication()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.applyUntilNow();
            replication.source().execute("INSERT INTO t VALUES (1)");
            invalidate(replication);
            expectSlotLost(replication);
            assertEquals(List.of(), replication.target().rows("t"));
        }
    }

    /// B084: the same under an engine that cannot apply, since the target is locked.
    @Test
    void aSlotInvalidatedUnderABlockedEngineIsLost() throws SQLException {
        try (Replication replication = replication()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE u (v text)");
            replication.applyUntilNow();
            try (Connection holder = replication.target().connect();
                    Statement lock = holder.createStatement();
                    EngineRun run = replication.engine(event -> {}, Duration.ofSeconds(6))) {
                holder.setAutoCommit(false);
                lock.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
                replication.source().execute("INSERT INTO t VALUES (1)");
                awaitWaiting(replication, "INSERT");
                invalidate(replication);
                expectSlotLost(run);
            }
        }
    }

    private static void invalidate(Replication replication) {
        TestDatabase source = replication.source();
        String status =
                "SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'pgapply_" + replication.name() + "'";
        Await.until("the slot is lost", () -> {
            for (int i = 0; i < 4; i++) {
                source.queryAll("SELECT pg_logical_emit_message(false, 'fill', 'x')");
                source.queryAll("SELECT pg_switch_wal()");
            }
            source.execute("CHECKPOINT");
            return source.query(status).equals(Optional.of("lost"));
        });
    }

    /// A file copy of the target, put back after the source has been told of more.
    @Test
    void aTargetRestoredFromAnOlderStateIsAGap() {
        try (Replication replication = replication()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.source().execute("INSERT INTO t VALUES (1)");
            replication.applyUntilNow();
            Lsn then = known(replication);

            Path data = targetServer.dataFolder();
            Path copy = data.resolveSibling("data-copy");
            targetServer.stopFast();
            command("cp", "-a", data.toString(), copy.toString());
            targetServer.startAgain();
            replication.source().execute("INSERT INTO t VALUES (2)");
            replication.applyUntilNow();
            targetServer.stopFast();
            command("rm", "-r", data.toString());
            command("mv", copy.toString(), data.toString());
            targetServer.startAgain();

            assertEquals(then, known(replication), "the copy is not what it should be");
            expectSlotLost(replication, then.toString());
            assertEquals(List.of("(1)"), replication.target().rows("t"));
        }
    }

    /// The same on the other side: the source's log ends before what the target has, as after a failover to a
    /// standby that was behind.
    @Test
    void aSourceRestoredFromAnOlderStateIsAGap() throws IOException {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            source.execute("INSERT INTO t VALUES (1)");
            replication.applyUntilNow();

            Path data = sourceServer.dataFolder();
            Path copy = data.resolveSibling("data-copy");
            sourceServer.stopFast();
            command("cp", "-a", data.toString(), copy.toString());
            sourceServer.startAgain();
            source.queryAll("SELECT pg_logical_emit_message(false, 'fill', repeat('x', 1000000))");
            source.execute("INSERT INTO t VALUES (2)");
            replication.applyUntilNow();
            sourceServer.stopFast();
            command("rm", "-r", data.toString());
            command("mv", copy.toString(), data.toString());
            // Ends its recovery on a new timeline, as a standby does that is promoted.
            Files.createFile(data.resolve("recovery.signal"));
            Files.writeString(
                    data.resolve("postgresql.auto.conf"), "restore_command = 'false'\n", StandardOpenOption.APPEND);
            sourceServer.startAgain();
            Await.until(
                    "the source takes writes",
                    () -> source.query("SELECT pg_is_in_recovery()").equals(Optional.of("f")));

            source.execute("INSERT INTO t VALUES (3)");
            expectSlotLost(replication, replication.progress().toString(), "failed over");
            assertEquals(List.of("(1)", "(2)"), replication.target().rows("t"));
        }
    }

    private static void command(String... command) {
        try {
            Process process = new ProcessBuilder(command).inheritIO().start();
            assertEquals(0, process.waitFor(), () -> String.join(" ", command));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// A dump has the rows and the control tables as of its time; the replication origin belongs to the
    /// cluster: it is missing there, or is ahead of what was restored.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTargetRestoredFromADumpIsAGapWhateverItsOriginSays(boolean originIsThere) {
        try (Replication replication = replication()) {
            TestDatabase target = replication.target();
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.source().execute("INSERT INTO t VALUES (1)");
            replication.applyUntilNow();
            Lsn progress = replication.progress();
            Lsn then = known(replication);
            target.execute("CREATE TABLE dump AS SELECT confirmed_lsn FROM pgapply.subscription");
            replication.source().execute("INSERT INTO t VALUES (2)");
            replication.applyUntilNow();

            target.execute(
                    "DELETE FROM t WHERE id = 2",
                    "UPDATE pgapply.subscription SET confirmed_lsn = dump.confirmed_lsn FROM dump",
                    "DELETE FROM pgapply.progress",
                    "INSERT INTO pgapply.progress VALUES ('" + replication.name() + "', '" + progress + "')");
            if (!originIsThere) {
                target.queryAll("SELECT pg_replication_origin_drop('pgapply_" + replication.name() + "')");
            }
            expectSlotLost(replication, then.toString());
        }
    }

    /// `pg_replication_origin_xact_setup` survives a rollback in the session's memory, and from 16 on the
    /// rollback itself moves the origin.
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aCommitThatFailsMovesNoProgress(boolean grouping) {
        try (Replication replication = replication().with(setup -> setup.writer = writer(grouping))) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
            target.execute(
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$"
                            + " BEGIN RAISE EXCEPTION 'refused at commit'; END $$",
                    "CREATE CONSTRAINT TRIGGER refusing AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED"
                            + " FOR EACH ROW WHEN (NEW.v = 'poison') EXECUTE FUNCTION refuse()",
                    "ALTER TABLE t ENABLE ALWAYS TRIGGER refusing");
            replication.applyUntilNow();

            source.execute("INSERT INTO t VALUES (1, 'good')");
            Lsn afterFirst = source.flushLsn();
            source.execute("INSERT INTO t VALUES (2, 'poison')", "INSERT INTO t VALUES (3, 'good')");
            for (int i = 0; i < 2; i++) {
                try (EngineRun run = replication.engine()) {
                    ApplyException refused = run.awaitFailure();
                    assertEquals(ErrorCode.CHANGE_REJECTED, refused.code(), refused.getMessage());
                }
                assertEquals(List.of("(1,good)"), target.rows("t"));
                assertFalse(replication.progress().isAfter(afterFirst), "progress is ahead of the rows");
                assertFalse(replication.confirmed().isAfter(afterFirst), "the slot is ahead of the rows");
            }
            target.execute("DROP TRIGGER refusing ON t");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    private static Subscription.Writer writer(boolean grouping) {
        Subscription.Writer standard = Subscription.Writer.DEFAULT;
        return new Subscription.Writer(
                grouping,
                standard.groupRows(),
                standard.groupBytes(),
                standard.groupAge(),
                standard.synchronousCommit());
    }

    /// B055: rows of the target's own, in children that the source knows nothing of.
    @Test
    void childrenAreNotTouchedByChangesOfTheirParent() {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            replication.both(
                    "CREATE TABLE parent (id int PRIMARY KEY, v text)", "CREATE TABLE full_parent (id int, v text)");
            source.execute(
                    "ALTER TABLE full_parent REPLICA IDENTITY FULL",
                    "INSERT INTO parent VALUES (1, 'a'), (2, 'b')",
                    "INSERT INTO full_parent VALUES (1, 'a'), (2, 'b')");
            replication.applyUntilNow();
            replication
                    .target()
                    .execute(
                            "CREATE TABLE child () INHERITS (parent)",
                            "CREATE TABLE full_child () INHERITS (full_parent)",
                            "INSERT INTO child VALUES (1, 'a'), (2, 'b')",
                            "INSERT INTO full_child VALUES (1, 'a'), (2, 'b')");
            List<String> own = List.of("(1,a)", "(2,b)");

            source.execute(
                    "UPDATE parent SET v = 'changed' WHERE id = 1",
                    "DELETE FROM parent WHERE id = 2",
                    "UPDATE full_parent SET v = 'changed' WHERE id = 1",
                    "DELETE FROM full_parent WHERE id = 2");
            replication.applyUntilNow();
            assertEquals(List.of("(1,changed)"), replication.target().rows("ONLY parent"));
            assertEquals(List.of("(1,changed)"), replication.target().rows("ONLY full_parent"));
            assertEquals(own, replication.target().rows("child"));
            assertEquals(own, replication.target().rows("full_child"));

            source.execute("TRUNCATE parent, full_parent");
            replication.applyUntilNow();
            assertEquals(List.of(), replication.target().rows("ONLY parent"));
            assertEquals(own, replication.target().rows("child"));
            assertEquals(own, replication.target().rows("full_child"));
        }
    }

    /// The target commits without waiting for its disk, and is killed while nobody has asked it to flush.
    @Test
    void commitsThatATargetLosesInACrashComeAgain() throws InterruptedException {
        AtomicBoolean holdFeedback = new AtomicBoolean();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Replication replication = replication().with(setup -> setup.writer = writer(false))) {
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE log (i int)");
            replication.applyUntilNow();
            Lsn lost;
            Lsn told;
            try (EngineRun run = replication.engine(
                    event -> {
                        // The thread that asks the target for what is durable is held up with its news.
                        if (event instanceof EngineEvent.Confirmed && holdFeedback.get()) {
                            held.countDown();
                            awaitQuietly(release);
                        }
                    },
                    MINUTE)) {
                source.execute("INSERT INTO t VALUES (0)");
                replication.awaitApplied();
                holdFeedback.set(true);
                source.execute("INSERT INTO t VALUES (1)");
                assertTrue(held.await(Await.PATIENCE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS));
                source.execute("DO $$ BEGIN FOR i IN 2..201 LOOP INSERT INTO log VALUES (i);"
                        + " INSERT INTO t VALUES (i); COMMIT; END LOOP; END $$");
                replication.awaitProgress(lastCommit(run, source));
                lost = replication.progress();
                targetServer.kill();
                holdFeedback.set(false);
                release.countDown();
                // The engine cannot go on before the target is there again.
                Await.until(
                        "the engine has noticed",
                        () -> !run.events(EngineEvent.Retrying.class).isEmpty());
                told = replication.confirmed();
            }
            targetServer.startAgain();
            Lsn survived = replication.progress();
            Lsn known = known(replication);
            System.out.println("TrapsIT: the target came back at " + survived + " of " + lost + " with "
                    + replication.target().count("t") + " of 202 rows");
            assertFalse(told.isAfter(known), "the source was told of " + told + ", which is lost");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// Where the last transaction ends: the keeper's thread stands still, but the applier's tells.
    private static Lsn lastCommit(EngineRun run, TestDatabase source) {
        Lsn end = source.flushLsn();
        long rows = source.count("t") + source.count("log");
        Await.until(
                "all rows are committed",
                () -> run.events(EngineEvent.Committed.class).stream()
                                .mapToLong(EngineEvent.Committed::rows)
                                .sum()
                        >= rows);
        return run.events(EngineEvent.Committed.class).getLast().endLsn().min(end);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
