package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription.Streaming;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.apply.Subscription.Streaming.SpoolFull;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Field cases of group K, and what can happen to transactions that wait in the spool for their commit.
final class OpenTransactionsKIT {

    private static final String MODES = "dev.pgapply.it.SmallDecodingMemory#modes";
    private static final String ROWS = "INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(1, 3000) g";

    @TempDir
    private Path spool;

    private Replication replication(Mode mode) {
        Replication replication = Replication.newest();
        replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
        return replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
    }

    private List<Path> spoolFiles() {
        return SmallDecodingMemory.spoolFiles(spool);
    }

    private void awaitSpoolFile() {
        Await.until("there is a spool file", () -> !spoolFiles().isEmpty());
    }

    private void awaitNoSpoolFile() {
        Await.until("there is no spool file", () -> spoolFiles().isEmpty());
    }

    private static Connection begin(Replication replication, String... statements) throws SQLException {
        Connection connection = replication.source().connect();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
        return connection;
    }

    @ParameterizedTest
    @MethodSource(MODES)
    void filesEndWithTheirTransactionAndWithTheRun(Mode mode) throws SQLException {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            EngineRun run = replication.engine();
            replication.awaitApplied();
            try (Connection open = begin(replication, ROWS)) {
                awaitSpoolFile();
                open.rollback();
            }
            awaitNoSpoolFile();
            try (Connection open = begin(replication, ROWS)) {
                awaitSpoolFile();
                open.commit();
            }
            replication.awaitApplied();
            awaitNoSpoolFile();
            replication.assertIdentical();
            try (Connection open = begin(replication, "DELETE FROM t")) {
                awaitSpoolFile();
                run.close();
                assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
                open.commit();
            }
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }

    @ParameterizedTest
    @MethodSource(MODES)
    void aKilledRunsFilesAreRemovedByTheNext(Mode mode) throws SQLException {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            String[] options = {
                "--streaming",
                mode.name().toLowerCase(java.util.Locale.ROOT),
                "--spool-dir",
                spool.toString(),
                "--spool-memory",
                "4kB"
            };
            try (Launcher run = replication.run(options)) {
                replication.awaitApplied();
                try (Connection open = begin(replication, ROWS)) {
                    awaitSpoolFile();
                    run.kill();
                    assertFalse(spoolFiles().isEmpty());
                    open.commit();
                }
            }
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }

    @ParameterizedTest
    @MethodSource(MODES)
    void aTransactionBeyondTheLimitStopsTheRunByItsName(Mode mode) throws SQLException {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            replication.with(setup -> setup.streaming = limited(mode, SpoolFull.STOP));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                try (Connection open = begin(replication, ROWS)) {
                    String xid = xid(open);
                    ApplyException failure = run.awaitFailure();
                    assertEquals(ErrorCode.SPOOL_FULL, failure.code(), failure::getMessage);
                    assertTrue(
                            String.valueOf(failure.getMessage()).contains("transaction " + xid), failure::getMessage);
                    assertTrue(failure.hint().contains("--spool-limit"), failure::hint);
                    assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
                    open.commit();
                }
            }
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    @ParameterizedTest
    @MethodSource(MODES)
    void aTransactionBeyondTheLimitIsKeptByTheSourceIfWished(Mode mode) throws SQLException {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            replication.with(setup -> setup.streaming = limited(mode, SpoolFull.WAIT));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                try (Connection open = begin(replication, ROWS)) {
                    Await.until(
                            "the source keeps it",
                            () -> run.events(EngineEvent.Warning.class).stream()
                                    .anyMatch(warning -> warning.message().contains("the source keeps transactions")));
                    replication.source().execute("INSERT INTO t VALUES (-1, 'meanwhile')");
                    replication.awaitApplied();
                    assertEquals(1, replication.target().count("t"));
                    open.commit();
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
                run.assertRunning();
            }
        }
    }

    private Streaming limited(Mode mode, SpoolFull full) {
        return new Streaming(Optional.of(mode), Streaming.DEFAULT.parallelStreams(), spool, 4096, 50_000, full);
    }

    private static String xid(Connection open) throws SQLException {
        try (Statement statement = open.createStatement();
                var row = statement.executeQuery("SELECT pg_current_xact_id()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void aSpoolDirectoryThatCannotBeUsedIsNamed() throws IOException {
        Path file = Files.createFile(spool.resolve("file"));
        try (Replication replication = replication(Mode.ON)) {
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(Mode.ON, file.resolve("below")));
            try (EngineRun run = replication.engine()) {
                ApplyException failure = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, failure.code());
                assertTrue(String.valueOf(failure.getMessage()).contains(file.toString()), failure::getMessage);
                assertTrue(failure.hint().contains("--spool-dir"), failure::hint);
            }
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(Mode.ON, spool));
            replication.source().execute("INSERT INTO t VALUES (1, 'x')");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// A byte of the file changes while the transaction is open.
    @Test
    void aDamagedSpoolFileIsNoticedAndItsTransactionFetchedAgain() throws SQLException, IOException {
        try (Replication replication = replication(Mode.ON)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            replication.both("CREATE TABLE log (v text)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                try (Connection open =
                        begin(replication, ROWS, "INSERT INTO log SELECT 'v' FROM generate_series(1, 1000)")) {
                    awaitSpoolFile();
                    try (RandomAccessFile file =
                            new RandomAccessFile(spoolFiles().getFirst().toFile(), "rw")) {
                        long middle = file.length() / 2;
                        file.seek(middle);
                        int value = file.read();
                        file.seek(middle);
                        file.write(value ^ 1);
                    }
                    open.commit();
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertTrue(run.events(EngineEvent.Retrying.class).stream()
                        .anyMatch(retrying ->
                                String.valueOf(retrying.reason().getMessage()).contains("damaged")));
                assertEquals(List.of(), spoolFiles());
                run.assertRunning();
            }
        }
    }

    /// In the middle of a stream block; the transaction goes on meanwhile.
    @ParameterizedTest
    @MethodSource(MODES)
    void aConnectionThatBreaksWithinAStreamLosesNothing(Mode mode) throws SQLException {
        try (Replication replication = replication(mode);
                TcpProxy proxy = TcpProxy.before(replication.source())) {
            replication.with(setup -> setup.sourceEndpoint = proxy::through);
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                proxy.resetAfter(150_000);
                try (Connection open = begin(replication, ROWS)) {
                    Await.until(
                            "the connection is broken",
                            () -> !run.events(EngineEvent.Retrying.class).isEmpty());
                    long before = memory.streamed();
                    try (Statement statement = open.createStatement()) {
                        statement.execute("SAVEPOINT s");
                        statement.execute("UPDATE t SET b = 'rolled back'");
                        statement.execute("ROLLBACK TO s");
                        statement.execute("UPDATE t SET b = 'changed' WHERE a % 3 = 0");
                    }
                    memory.awaitStreamed(before);
                    open.commit();
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), spoolFiles());
                run.assertRunning();
            }
        }
    }

    /// A small file system of its own as the spool's disk.
    @ParameterizedTest
    @MethodSource(MODES)
    void aFullDiskIsWaitedForWhileTheSourceHearsOfUs(Mode mode) throws SQLException, IOException {
        Assumptions.assumeTrue(isMounted(spool), "needs the right to mount a file system");
        try (Replication replication = replication(mode)) {
            TestDatabase source = replication.source();
            source.execute("ALTER DATABASE " + source.name() + " SET wal_sender_timeout = '2s'");
            SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                Path filler = spool.resolve("filler");
                Files.write(filler, new byte[900 << 10]);
                try (Connection open = begin(replication, ROWS)) {
                    Await.until(
                            "the disk is full",
                            () -> run.events(EngineEvent.Warning.class).stream()
                                    .anyMatch(warning -> warning.message().contains("no space is left")));
                    String since = source.query("SELECT now()").orElseThrow();
                    Await.until(
                            "the source hears of us for longer than its timeout",
                            () -> source.query("SELECT reply_time > '" + since + "'::timestamptz + interval '3 s'"
                                            + " FROM pg_stat_replication WHERE application_name = 'pgapply/"
                                            + replication.name() + "'")
                                    .equals(Optional.of("t")));
                    Files.delete(filler);
                    open.commit();
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), run.events(EngineEvent.Retrying.class));
                assertEquals(List.of(), spoolFiles());
                run.assertRunning();
            }
        } finally {
            command("umount", spool.toString());
        }
    }

    private static boolean isMounted(Path path) {
        return command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path.toString());
    }

    private static boolean command(String... command) {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// B071: PostgreSQL 18 tells of savepoints that were rolled back in transactions that it has not streamed.
    @ParameterizedTest
    @EnumSource(Mode.class)
    void rolledBackPartsOfWhatWasNeverStreamedAreNothing(Mode mode) {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (int i = 0; i < 5; i++) {
                    replication
                            .source()
                            .transaction(
                                    "INSERT INTO t VALUES (" + i + ", 'large')",
                                    "DO $$ BEGIN FOR i IN 1..50 LOOP BEGIN INSERT INTO t SELECT g, repeat('x', 100) FROM"
                                            + " generate_series(1000, 1200) g; RAISE 'back'; EXCEPTION WHEN raise_exception"
                                            + " THEN NULL; END; END LOOP; END $$",
                                    "INSERT INTO t VALUES (" + (i + 100) + ", 'large')");
                    replication.source().transaction("SAVEPOINT s", "DELETE FROM t", "ROLLBACK TO s");
                    replication.source().execute("INSERT INTO t VALUES (" + (i + 200) + ", 'small')");
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(15, replication.target().count("t"));
                run.assertRunning();
            }
        }
    }

    /// B074: as many subtransactions as rows, every third of them rolled back, beside tables that come and go.
    @ParameterizedTest
    @EnumSource(Mode.class)
    void thousandsOfSubtransactionsArriveInOrder(Mode mode) {
        try (Replication replication = replication(mode)) {
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            replication.both("CREATE TABLE ordered (i int, b text)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .transaction("DO $$ BEGIN FOR i IN 1..4000 LOOP BEGIN"
                                + " INSERT INTO t VALUES (i, repeat('x', 20)); INSERT INTO ordered VALUES (i, 'y');"
                                + " UPDATE t SET b = b || i WHERE a = i - 1;"
                                + " IF i % 3 = 0 THEN RAISE 'back'; END IF;"
                                + " EXCEPTION WHEN raise_exception THEN NULL; END; END LOOP; END $$");
                for (int i = 0; i < 100; i++) {
                    replication
                            .source()
                            .transaction(
                                    "CREATE TEMP TABLE gone" + i + " ON COMMIT DROP AS SELECT 1 AS a",
                                    "INSERT INTO ordered VALUES (-" + i + ", 'temp')");
                }
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(
                        replication.source().queryAll("SELECT i FROM ordered ORDER BY ctid"),
                        replication.target().queryAll("SELECT i FROM ordered ORDER BY ctid"));
                assertEquals(mode == Mode.OFF, memory.streamed() == 0);
                run.assertRunning();
            }
        }
    }

    /// B076: nobody sees the cycle, which goes over both servers, and so nothing must be lost until a person
    /// breaks it.
    @Test
    void aStallBehindAPreparedTransactionEndsWhenItsCauseDoes() throws SQLException {
        try (Replication replication = replication(Mode.OFF).with(setup -> setup.twoPhase = true)) {
            TestDatabase source = replication.source();
            TestDatabase target = replication.target();
            source.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')");
            try (EngineRun run = replication.engine();
                    Connection other = target.connect();
                    Statement alter = other.createStatement()) {
                replication.awaitApplied();
                TwoPhase021IT.prepare(source, "g", "UPDATE t SET b = '1' WHERE a = 1");
                replication.awaitSeen();
                Thread waiting = Thread.ofPlatform().start(() -> {
                    try {
                        alter.execute("ALTER TABLE t ADD COLUMN own int");
                    } catch (SQLException e) {
                        // Ended below.
                    }
                });
                awaitBlocked(target, "ALTER TABLE t%");
                source.execute("UPDATE t SET b = '2' WHERE a = 2", "COMMIT PREPARED 'g'");
                awaitBlocked(target, "UPDATE %");
                Await.until(
                        "it is told what is waited for",
                        () -> run.events(EngineEvent.Warning.class).stream()
                                .anyMatch(warning -> warning.message().contains("waits for a lock that is held by")));
                run.assertRunning();
                Await.until(
                        "it is told whom the target waits for",
                        () -> run.events(EngineEvent.Warning.class).stream()
                                .anyMatch(warning ->
                                        warning.message().contains("held by prepared transaction pgapply_")));
                assertEquals(1, target.preparedTransactions().size());
                target.queryAll("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE"
                        + " 'ALTER TABLE t%' AND datname = current_database()");
                replication.awaitApplied();
                replication.assertIdentical();
                Await.until("the other session has ended", () -> !waiting.isAlive());
                run.assertRunning();
            }
        }
    }

    private static void awaitBlocked(TestDatabase target, String query) {
        Await.until(
                query + " waits for a lock",
                () -> target.query("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query"
                                + " LIKE '" + query + "' AND datname = current_database()")
                        .equals(Optional.of("t")));
    }
}
