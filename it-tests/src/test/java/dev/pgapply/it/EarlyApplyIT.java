package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Transactions that are written to the target while they are open at the source.
final class EarlyApplyIT {

    private static Replication replication;
    private static EngineRun engine;

    @BeforeAll
    static void start() {
        replication = Replication.newest();
        SmallDecodingMemory.of64Kilobytes(replication);
        replication.both(
                "CREATE TABLE t (id int PRIMARY KEY, v text)",
                "CREATE TABLE log (id int, v text)",
                "ALTER TABLE log REPLICA IDENTITY FULL",
                "CREATE TABLE other (id int PRIMARY KEY)");
        replication.target().execute("CREATE UNIQUE INDEX only_here ON log (id) WHERE id < 0");
        engine = replication.engine();
        replication.awaitSeen();
    }

    @AfterAll
    static void stop() {
        engine.close();
        replication.close();
    }

    @Test
    void openTransactionIsOnTheTargetBeforeItsCommitAndSeenAfterwards() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            insert(open, 1, 30_000);
            awaitWrittenAhead();
            assertEquals(0, replication.target().count("t WHERE id BETWEEN 1 AND 30000"));
            replication.source().execute("INSERT INTO other VALUES (1)");
            replication.awaitSeen();
            connection.commit();
        });
        replication.awaitSeen();
        replication.assertIdentical();
        assertEquals(Optional.of("0"), writtenAhead());
    }

    @Test
    void updateOfARowWhoseInsertCommittedWhileTheTransactionWasOpenFindsIt() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            insert(open, 100_001, 130_000);
            awaitWrittenAhead();
            replication.source().execute("INSERT INTO t SELECT i, 'committed' FROM generate_series(200001, 203000) i");
            open.execute("UPDATE t SET v = v || ' updated' WHERE id BETWEEN 200001 AND 203000");
            insert(open, 130_001, 135_000);
            connection.commit();
        });
        replication.awaitSeen();
        replication.assertIdentical();
        assertEquals(List.of(), engine.events(EngineEvent.ConflictSkipped.class));
    }

    @Test
    void whatIsRolledBackToASavepointIsNeverSeen() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            insert(open, 300_001, 305_000);
            open.execute("SAVEPOINT a");
            insert(open, 305_001, 310_000);
            open.execute("SAVEPOINT b");
            open.execute("DELETE FROM t WHERE id BETWEEN 300001 AND 302000");
            insert(open, 310_001, 315_000);
            awaitWrittenAhead();
            open.execute("ROLLBACK TO SAVEPOINT b");
            insert(open, 315_001, 320_000);
            open.execute("RELEASE SAVEPOINT b");
            open.execute("ROLLBACK TO SAVEPOINT a");
            insert(open, 320_001, 325_000);
            open.execute("SAVEPOINT a");
            insert(open, 325_001, 330_000);
            connection.commit();
        });
        replication.awaitSeen();
        replication.assertIdentical();
        assertEquals(15_000, replication.target().count("t WHERE id BETWEEN 300001 AND 330000"));
    }

    @Test
    void rolledBackTransactionLeavesNothing() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            insert(open, 400_001, 430_000);
            awaitWrittenAhead();
            connection.rollback();
        });
        replication.source().execute("INSERT INTO other VALUES (4)");
        replication.awaitSeen();
        replication.assertIdentical();
        Await.until("the target has rolled it back", () -> writtenAhead().equals(Optional.of("0")));
    }

    /// More than are written at once: the others are kept.
    @Test
    void severalOpenTransactionsCommitInTheSourcesOrder() throws SQLException {
        try (Connection one = replication.source().connect();
                Connection two = replication.source().connect();
                Connection three = replication.source().connect();
                Statement first = one.createStatement();
                Statement second = two.createStatement();
                Statement third = three.createStatement()) {
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            three.setAutoCommit(false);
            for (int i = 0; i < 5; i++) {
                insert(first, 500_000 + i * 2_000, 501_999 + i * 2_000);
                insert(second, 520_000 + i * 2_000, 521_999 + i * 2_000);
                insert(third, 540_000 + i * 2_000, 541_999 + i * 2_000);
            }
            third.execute("INSERT INTO log VALUES (3, 'third')");
            three.commit();
            first.execute("INSERT INTO log VALUES (1, 'first')");
            one.commit();
            second.execute("UPDATE log SET v = v || ' and second' WHERE id = 1");
            second.execute("INSERT INTO log VALUES (2, 'second')");
            two.commit();
        }
        replication.awaitSeen();
        replication.assertIdentical();
    }

    /// The target has a unique index that the source lacks, and the committed transaction meets a row of the open
    /// one: the open one gives way, nothing stops.
    @Test
    void openTransactionGivesWayToACommittedOneThatWaitsForIt() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            open.execute("INSERT INTO log VALUES (-1, 'open')");
            insert(open, 600_001, 630_000);
            awaitWrittenAhead();
            replication.source().execute("INSERT INTO log VALUES (-1, 'committed')");
            replication.awaitSeen();
            assertEquals(Optional.of("committed"), replication.target().query("SELECT v FROM log WHERE id = -1"));
            open.execute("DELETE FROM log WHERE v = 'open'");
            connection.rollback();
        });
        replication.source().execute("DELETE FROM log WHERE id = -1");
        replication.awaitSeen();
        replication.assertIdentical();
    }

    /// What it waits for is somebody else's: it is applied like any other after its commit, once the lock is free.
    @Test
    void openTransactionThatMeetsALockOfSomebodyElseIsAppliedAfterItsCommit() throws SQLException {
        replication.source().execute("INSERT INTO t VALUES (700000, 'locked')");
        replication.awaitSeen();
        try (Connection connection = replication.source().connect();
                Statement open = connection.createStatement();
                Connection holder = replication.target().connect();
                Statement lock = holder.createStatement()) {
            connection.setAutoCommit(false);
            holder.setAutoCommit(false);
            lock.execute("SELECT FROM t WHERE id = 700000 FOR UPDATE");
            open.execute("UPDATE t SET v = 'changed' WHERE id = 700000");
            insert(open, 700_001, 730_000);
            replication.source().execute("INSERT INTO other VALUES (7)");
            replication.awaitSeen();
            connection.commit();
            holder.rollback();
        }
        replication.awaitSeen();
        replication.assertIdentical();
    }

    @Test
    void conflictOfAnOpenTransactionIsToldWhereItWasCommitted() throws SQLException {
        try (Replication own = Replication.newest()) {
            SmallDecodingMemory.of64Kilobytes(own);
            own.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
            own.source().execute("INSERT INTO t VALUES (1, 'a')");
            try (EngineRun run = own.engine()) {
                own.awaitSeen();
                own.target().execute("INSERT INTO t VALUES (5000, 'in the way')");
                inOpenTransaction(own, (connection, open) -> {
                    insert(open, 2, 30_000);
                    connection.commit();
                });
                ApplyException stop = run.awaitFailure();
                assertEquals(ErrorCode.CONFLICT, stop.code());
                assertTrue(stop.lsn().isPresent());
                assertEquals(2, own.target().count("t"));
            }
        }
    }

    /// Written after what it waits for is free, and only once, whichever server process was killed.
    @Test
    void lostSessionOfAnOpenTransactionIsNoLoss() throws SQLException {
        inOpenTransaction(replication, (connection, open) -> {
            insert(open, 800_001, 830_000);
            awaitWrittenAhead();
            replication
                    .target()
                    .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND state = 'idle in transaction'");
            insert(open, 830_001, 860_000);
            connection.commit();
        });
        replication.awaitSeen();
        replication.assertIdentical();
    }

    @Test
    void modeOnKeepsOpenTransactionsUntilTheirCommit() throws SQLException {
        try (Replication own = Replication.newest()) {
            SmallDecodingMemory.of64Kilobytes(own);
            own.both("CREATE TABLE t (id int PRIMARY KEY, v text)");
            own.with(setup -> setup.streaming = new Subscription.Streaming(
                    Optional.of(Subscription.Streaming.Mode.ON),
                    2,
                    setup.streaming.spoolDirectory(),
                    setup.streaming.spoolMemoryBytes(),
                    setup.streaming.spoolLimitBytes(),
                    setup.streaming.spoolFull()));
            try (EngineRun run = own.engine()) {
                own.awaitSeen();
                inOpenTransaction(own, (connection, open) -> {
                    insert(open, 1, 30_000);
                    connection.commit();
                });
                own.awaitSeen();
                own.assertIdentical();
                run.assertRunning();
            }
        }
    }

    @FunctionalInterface
    private interface Work {
        void with(Connection connection, Statement open) throws SQLException;
    }

    private static void inOpenTransaction(Replication replication, Work work) throws SQLException {
        try (Connection connection = replication.source().connect();
                Statement open = connection.createStatement()) {
            connection.setAutoCommit(false);
            work.with(connection, open);
        }
    }

    private static void insert(Statement open, int from, int to) throws SQLException {
        open.execute("INSERT INTO t SELECT i, 'value ' || i FROM generate_series(" + from + ", " + to + ") AS i");
    }

    private static Optional<String> writtenAhead() {
        return replication
                .target()
                .query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND state = 'idle in transaction' AND backend_xid IS NOT NULL");
    }

    private static void awaitWrittenAhead() {
        Await.until("a part of it is on the target", () -> !writtenAhead().equals(Optional.of("0")));
    }
}
