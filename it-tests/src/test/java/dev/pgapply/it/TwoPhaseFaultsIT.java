package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Two-phase where something comes between: crashes at every step, people, slots and copies that are made while
/// transactions are prepared.
final class TwoPhaseFaultsIT {

    @TempDir
    private Path spool;

    private Replication replication() {
        Replication replication = Replication.newest();
        replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
        return replication.with(setup -> {
            setup.streaming = SmallDecodingMemory.spooling(Mode.ON, spool);
            setup.twoPhase = true;
        });
    }

    private static void prepare(Replication replication, String gid, String... statements) {
        TwoPhase021IT.prepare(replication.source(), gid, statements);
    }

    private static List<String> preparedOnTarget(Replication replication) {
        return replication.target().preparedTransactions();
    }

    /// Something is done on the target, the progress that says so is not.
    @Test
    void aCrashBetweenADecisionAndItsProgressRepeatsNothing() throws SQLException {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (String end : List.of("COMMIT", "ROLLBACK")) {
                    crashBeforeProgress(
                            replication,
                            () -> prepare(replication, "p", "INSERT INTO t SELECT count(*), 'x' FROM t"),
                            () -> !preparedOnTarget(replication).isEmpty());
                    replication.awaitSeen();
                    String gid = preparedOnTarget(replication).getFirst();
                    crashBeforeProgress(
                            replication,
                            () -> source.execute(end + " PREPARED 'p'"),
                            () -> preparedOnTarget(replication).isEmpty());
                    source.execute("INSERT INTO t SELECT count(*), 'after' FROM t");
                    replication.awaitApplied();
                    replication.assertIdentical();
                    assertEquals(List.of(), preparedOnTarget(replication), gid);
                    assertEquals(
                            "0",
                            target.query("SELECT count(*) FROM pgapply.prepared")
                                    .orElseThrow());
                }
                run.assertRunning();
            }
        }
    }

    private static void crashBeforeProgress(
            Replication replication, Runnable then, java.util.concurrent.Callable<Boolean> happened)
            throws SQLException {
        TestDatabase target = replication.target();
        try (Connection connection = target.connect();
                Statement lock = connection.createStatement()) {
            connection.setAutoCommit(false);
            lock.execute("LOCK TABLE pgapply.progress IN SHARE ROW EXCLUSIVE MODE");
            then.run();
            Await.until("it has happened on the target", happened);
            Await.until(
                    "the writing session waits for the progress and is ended",
                    () -> target.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type"
                                    + " = 'Lock' AND query LIKE '%INSERT INTO pgapply.progress%'"
                                    + " AND datname = current_database()")
                            .equals(Optional.of("t")));
            connection.rollback();
        }
    }

    /// The reply to PREPARE TRANSACTION, to COMMIT PREPARED, or to something near does not arrive.
    @Test
    void lostRepliesRepeatNothing() {
        try (Replication replication = replication();
                TcpProxy proxy = TcpProxy.before(replication.target())) {
            replication.with(setup -> setup.targetEndpoint = proxy::through);
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE log (i int)");
            try (EngineRun run = replication.engine()) {
                for (int i = 0; i < 4; i++) {
                    String gid = "p" + i;
                    String end = i % 3 == 2 ? "ROLLBACK" : "COMMIT";
                    int number = i;
                    replication.awaitApplied();
                    proxy.inject(
                            TcpProxy.Fault.REPLY_LOST,
                            () -> prepare(replication, gid, "INSERT INTO log VALUES (" + number + ")"));
                    replication.awaitApplied();
                    assertEquals(1, preparedOnTarget(replication).size());
                    proxy.inject(TcpProxy.Fault.REPLY_LOST, () -> source.execute(end + " PREPARED '" + gid + "'"));
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), preparedOnTarget(replication));
                run.assertRunning();
            }
        }
    }

    /// What refuses the progress is mended while the run waits, or the run is started again: in both cases the
    /// transaction is prepared already.
    @Test
    void aProgressThatIsRefusedAfterThePreparePreparesNothingAgain() {
        try (Replication replication = replication()) {
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .target()
                        .execute(
                                "CREATE SEQUENCE refused",
                                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                                        + " IF EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database())"
                                        + " AND nextval('public.refused') = 1 THEN RAISE 'refused'; END IF; RETURN NEW; END $$",
                                "CREATE TRIGGER refuse BEFORE INSERT ON pgapply.progress FOR EACH ROW EXECUTE FUNCTION"
                                        + " refuse()",
                                "ALTER TABLE pgapply.progress ENABLE ALWAYS TRIGGER refuse");
                prepare(replication, "p", "INSERT INTO t VALUES (1, 'x')");
                replication.awaitSeen();
                assertEquals(Optional.of("t"), replication.target().query("SELECT is_called FROM refused"));
                assertEquals(1, preparedOnTarget(replication).size());
                assertEquals(0, replication.target().count("t"));
                replication.source().execute("ROLLBACK PREPARED 'p'", "INSERT INTO t VALUES (2, 'y')");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    /// Somebody ends what we have prepared, while the run goes on or between two.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatSomebodyElseHasEndedIsAcceptedOrNamed(boolean betweenRuns) {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();

            endByHand(replication, betweenRuns, "COMMIT", "COMMIT");
            replication.applyUntilNow();
            replication.assertIdentical();

            endByHand(replication, betweenRuns, "ROLLBACK", "ROLLBACK");
            replication.applyUntilNow();
            replication.assertIdentical();

            String inserted = endByHand(replication, betweenRuns, "ROLLBACK", "COMMIT");
            ApplyException lost = failure(replication);
            assertEquals(ErrorCode.CONFLICT, lost.code(), lost::getMessage);
            assertTrue(String.valueOf(lost.getMessage()).contains("rolled back"), lost::getMessage);
            target.execute(inserted, statementOf(lost));
            replication.applyUntilNow();
            replication.assertIdentical();

            endByHand(replication, betweenRuns, "COMMIT", "ROLLBACK");
            ApplyException surplus = failure(replication);
            assertEquals(ErrorCode.CONFLICT, surplus.code(), surplus::getMessage);
            assertTrue(String.valueOf(surplus.getMessage()).contains("committed"), surplus::getMessage);
            target.execute("DELETE FROM t WHERE a = (SELECT max(a) FROM t)", statementOf(surplus));
            replication.applyUntilNow();
            replication.assertIdentical();

            assertEquals(List.of(), preparedOnTarget(replication));
            assertEquals(
                    "0", target.query("SELECT count(*) FROM pgapply.prepared").orElseThrow());
            source.execute("INSERT INTO t VALUES (1000, 'at last')");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// @return the statement that the transaction consists of
    private static String endByHand(Replication replication, boolean betweenRuns, String byHand, String atTheSource) {
        TestDatabase source = replication.source();
        String insert = "INSERT INTO t VALUES (" + (source.count("t") + 1) + ", 'by hand')";
        EngineRun run = replication.engine();
        replication.awaitApplied();
        prepare(replication, "p", insert);
        // Confirmed as well: otherwise the source sends the transaction again, and it is simply applied.
        replication.awaitApplied();
        String gid = preparedOnTarget(replication).getFirst();
        if (betweenRuns) {
            run.close();
            replication.target().execute(byHand + " PREPARED '" + gid + "'");
            source.execute(atTheSource + " PREPARED 'p'");
            return insert;
        }
        replication.target().execute(byHand + " PREPARED '" + gid + "'");
        source.execute(atTheSource + " PREPARED 'p'");
        if (byHand.equals(atTheSource)) {
            replication.awaitApplied();
        } else {
            assertEquals(ErrorCode.CONFLICT, run.awaitFailure().code());
        }
        run.close();
        return insert;
    }

    private static ApplyException failure(Replication replication) {
        try (EngineRun run = replication.engine()) {
            return run.awaitFailure();
        }
    }

    private static String statementOf(ApplyException e) {
        return e.hint().substring(e.hint().indexOf("then: ") + 6);
    }

    /// A prepared transaction of which there are many groups.
    @ParameterizedTest
    @CsvSource({"OFF, true", "ON, true", "ON, false"})
    void aPreparedTransactionMayBeLargerThanAGroup(Mode mode, boolean grouping) {
        try (Replication replication = replication()) {
            Subscription.Writer standard = Subscription.Writer.DEFAULT;
            replication.with(setup -> {
                setup.streaming = SmallDecodingMemory.spooling(mode, spool);
                setup.writer = new Subscription.Writer(
                        grouping, 50, 10_000, standard.groupAge(), standard.synchronousCommit());
            });
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            TestDatabase source = replication.source();
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (String end : List.of("COMMIT", "ROLLBACK")) {
                    prepare(
                            replication,
                            "large",
                            "INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series((SELECT count(*) FROM t) + 1,"
                                    + " (SELECT count(*) FROM t) + 2000) g",
                            "UPDATE t SET b = 'y' WHERE a % 3 = 0");
                    replication.awaitSeen();
                    assertEquals(1, preparedOnTarget(replication).size());
                    source.execute("INSERT INTO t VALUES (-(SELECT count(*) FROM t), 'between')");
                    source.execute(end + " PREPARED 'large'");
                    replication.awaitApplied();
                    replication.assertIdentical();
                    assertEquals(List.of(), preparedOnTarget(replication));
                }
                assertEquals(mode == Mode.ON ? 2 : 0, memory.streamed());
                run.assertRunning();
            }
        }
    }

    /// A role that may not use replication origins, and so has its commits flushed one by one.
    @Test
    void preparedTransactionsNeedNoReplicationOrigin() {
        try (Replication replication = replication()) {
            TestDatabase target = replication.target();
            String role = replication.name();
            target.execute(
                    "CREATE ROLE " + role + " LOGIN",
                    "GRANT CREATE ON DATABASE " + target.name() + " TO " + role,
                    "ALTER TABLE t OWNER TO " + role);
            replication.with(setup -> {
                setup.allowTriggers = true;
                setup.targetEndpoint = as(role);
            });
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (String end : List.of("COMMIT", "ROLLBACK")) {
                    prepare(replication, "p", "INSERT INTO t SELECT count(*), 'x' FROM t");
                    replication.awaitSeen();
                    assertEquals(1, preparedOnTarget(replication).size());
                    replication.source().execute(end + " PREPARED 'p'");
                    replication.awaitApplied();
                    replication.assertIdentical();
                    assertEquals(List.of(), preparedOnTarget(replication));
                }
                assertEquals(
                        Optional.of("0"),
                        target.query("SELECT count(*) FROM pg_replication_origin WHERE roname = 'pgapply_"
                                + replication.name() + "'"));
                run.assertRunning();
            } finally {
                target.execute("DROP OWNED BY " + role + " CASCADE", "DROP ROLE " + role);
            }
        }
    }

    private static java.util.function.UnaryOperator<PostgresEndpoint> as(String role) {
        return endpoint -> new PostgresEndpoint(
                endpoint.hosts(), endpoint.database(), role, endpoint.password(), endpoint.parameters());
    }

    /// Two-phase is new for the slot: what was prepared before comes whole with its commit, or not at all.
    @Test
    void transactionsPreparedBeforeTwoPhaseWasSwitchedOnArriveOnce() {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            replication.with(setup -> setup.twoPhase = false);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "stays", "INSERT INTO t VALUES (1, 'a')");
                prepare(replication, "goes", "INSERT INTO t VALUES (2, 'b')");
                prepare(replication, "early", "INSERT INTO t VALUES (3, 'c')");
                source.execute("COMMIT PREPARED 'early'");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
            replication.with(setup -> setup.twoPhase = true);
            try (EngineRun run = replication.engine()) {
                prepare(replication, "new", "INSERT INTO t VALUES (4, 'd')");
                replication.awaitSeen();
                assertEquals(1, preparedOnTarget(replication).size());
                source.execute("COMMIT PREPARED 'stays'", "ROLLBACK PREPARED 'goes'", "COMMIT PREPARED 'new'");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), preparedOnTarget(replication));
                run.assertRunning();
            }
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// A slot is not made as long as a transaction is prepared: then it is in the copy, or nowhere.
    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "ROLLBACK"})
    void aTransactionPreparedBeforeTheSlotArrivesOnce(String end) {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            prepare(replication, "early", "INSERT INTO t VALUES (1, 'x')");
            try (EngineRun run = replication.engine()) {
                awaitSlotWaitsForAPreparedTransaction(source);
                source.execute("INSERT INTO t VALUES (2, 'y')", end + " PREPARED 'early'");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), preparedOnTarget(replication));
                run.assertRunning();
            }
        }
    }

    /// A table that is new comes with a prepared transaction: its copy waits until that is decided.
    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "ROLLBACK"})
    void aTransactionPreparedWithATableThatIsNewArrivesOnce(String end) {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "pending", "INSERT INTO t VALUES (1, 'prepared on the target')");
                replication.awaitSeen();
                replication.both("CREATE TABLE later (a int PRIMARY KEY)");
                prepare(replication, "new", "INSERT INTO t VALUES (2, 'x')", "INSERT INTO later VALUES (1)");
                awaitSlotWaitsForAPreparedTransaction(source);
                source.execute("INSERT INTO later VALUES (2)", end + " PREPARED 'pending'", end + " PREPARED 'new'");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), preparedOnTarget(replication));
                run.assertRunning();
            }
        }
    }

    /// What is kept until its decision has to be kept here: the source sends it with its prepare.
    @Test
    void aPreparedTransactionBeyondTheSpoolsLimitStopsTheRun() {
        try (Replication replication = replication()) {
            replication.applyUntilNow();
            replication.with(setup -> {
                setup.twoPhase = false;
                setup.streaming = new Subscription.Streaming(
                        Optional.of(Mode.ON), 1, spool, 4096, 50_000, Subscription.Streaming.SpoolFull.WAIT);
            });
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                prepare(replication, "p", "INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series(1, 2000) g");
                assertEquals(ErrorCode.SPOOL_FULL, run.awaitFailure().code());
            }
            replication.source().execute("COMMIT PREPARED 'p'");
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(Mode.ON, spool));
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// The slot's snapshot has been begun, and its consistent point is not reached: the transaction is in
    /// neither, and its commit brings it.
    @Test
    void aTransactionPreparedWhileTheSlotIsMadeArrivesOnce() throws SQLException {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            EngineRun run;
            try (Connection first = source.connect();
                    Statement early = first.createStatement();
                    Connection second = source.connect();
                    Statement later = second.createStatement()) {
                run = blockSlot(replication, early, later);
                prepare(replication, "stays", "INSERT INTO t VALUES (1, 'x')");
                prepare(replication, "goes", "INSERT INTO t VALUES (2, 'x')");
                second.rollback();
            }
            replication.awaitCopied();
            source.execute("INSERT INTO t VALUES (3, 'while it is kept')");
            replication.awaitSeen();
            assertEquals(1, replication.target().count("t"));
            run.close();

            EngineRun again = replication.engine();
            source.execute("INSERT INTO t VALUES (4, 'kept by another run')");
            replication.awaitSeen();
            source.execute("COMMIT PREPARED 'stays'", "ROLLBACK PREPARED 'goes'");
            replication.awaitApplied();
            replication.assertIdentical();
            again.close();
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// The same for a table that is copied later: its rows are not in the copy, those of the other table come
    /// with them.
    @Test
    void aTransactionPreparedWhileALaterTableIsCopiedArrivesOnce() throws SQLException {
        try (Replication replication = replication()) {
            TestDatabase source = replication.source();
            replication.both("CREATE TABLE later (a int PRIMARY KEY)");
            source.execute("CREATE PUBLICATION p FOR TABLE t", "INSERT INTO later VALUES (1)");
            replication.with(setup -> setup.publications = List.of("p"));
            replication.applyUntilNow();
            prepare(replication, "pending", "INSERT INTO t VALUES (10, 'prepared on the target')");
            replication.applyUntilNow();
            assertEquals(1, preparedOnTarget(replication).size());
            source.execute("COMMIT PREPARED 'pending'", "ALTER PUBLICATION p ADD TABLE later");

            EngineRun run;
            try (Connection first = source.connect();
                    Statement early = first.createStatement();
                    Connection second = source.connect();
                    Statement later = second.createStatement()) {
                run = blockSlot(replication, early, later);
                prepare(replication, "stays", "INSERT INTO t VALUES (1, 'x')", "INSERT INTO later VALUES (2)");
                prepare(replication, "goes", "INSERT INTO t VALUES (2, 'x')", "INSERT INTO later VALUES (3)");
                prepare(replication, "early", "INSERT INTO t VALUES (3, 'x')", "INSERT INTO later VALUES (4)");
                source.execute("COMMIT PREPARED 'early'");
                second.rollback();
            }
            replication.awaitCopied();
            source.execute("INSERT INTO t VALUES (4, 'while it is kept')", "INSERT INTO later VALUES (5)");
            replication.awaitSeen();
            assertEquals(3, replication.target().count("later"));
            run.close();

            EngineRun again = replication.engine();
            source.execute("INSERT INTO t VALUES (5, 'kept by another run')");
            replication.awaitSeen();
            source.execute("COMMIT PREPARED 'stays'", "ROLLBACK PREPARED 'goes'");
            replication.awaitApplied();
            replication.assertIdentical();
            again.close();
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(List.of(), preparedOnTarget(replication));
        }
    }

    /// Starts the engine and lets the slot that it makes wait for a second transaction, which began after the
    /// slot's snapshot: what begins now is prepared before the slot's consistent point.
    private static EngineRun blockSlot(Replication replication, Statement early, Statement later) throws SQLException {
        TestDatabase source = replication.source();
        early.getConnection().setAutoCommit(false);
        later.getConnection().setAutoCommit(false);
        String first = assignXid(early);
        EngineRun run = replication.engine();
        awaitSlotWaitsFor(source, first);
        String second = assignXid(later);
        early.getConnection().rollback();
        awaitSlotWaitsFor(source, second);
        return run;
    }

    private static String assignXid(Statement statement) throws SQLException {
        try (var row = statement.executeQuery("SELECT pg_current_xact_id()")) {
            row.next();
            return row.getString(1);
        }
    }

    private static void awaitSlotWaitsForAPreparedTransaction(TestDatabase source) {
        awaitSlotWaits(source, "(SELECT transaction FROM pg_prepared_xacts WHERE database = current_database())");
    }

    private static void awaitSlotWaitsFor(TestDatabase source, String xid) {
        awaitSlotWaits(source, "('" + xid + "')");
    }

    private static void awaitSlotWaits(TestDatabase source, String xids) {
        Await.until(
                "the making of a slot waits for one of " + xids,
                () -> source.query("SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT"
                                + " l.granted AND l.locktype = 'transactionid' AND l.transactionid IN " + xids
                                + " AND a.backend_type = 'walsender' AND a.datname = current_database()")
                        .equals(Optional.of("1")));
    }
}
