package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Binary;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 015_stream: transactions that are received while they are open.
final class Stream015IT {

    private static final String MODES = "dev.pgapply.it.SmallDecodingMemory#modes";

    private static final String ROW = "SELECT i, sha256(i::text::bytea) FROM generate_series(";

    @TempDir
    private Path spool;

    /// 015_stream: #116, #117, #118, #119, #122
    @ParameterizedTest
    @MethodSource(MODES)
    void interleavedTransactionsArriveWholeAndLeaveTheTargetsOwnColumnsAlone(Mode mode) throws SQLException {
        try (Replication replication = Replication.newest()) {
            Subscription.Writer standard = Subscription.Writer.DEFAULT;
            replication.with(setup -> {
                setup.streaming = SmallDecodingMemory.spooling(mode, spool);
                setup.writer = new Subscription.Writer(
                        true, 500, standard.groupBytes(), standard.groupAge(), standard.synchronousCommit());
            });
            TestDatabase source = replication.source();
            source.execute(
                    "CREATE TABLE t (a int PRIMARY KEY, b bytea)", "INSERT INTO t VALUES (1, 'foo'), (2, 'bar')");
            replication
                    .target()
                    .execute("CREATE TABLE t (a int PRIMARY KEY, b bytea, c timestamptz DEFAULT now(),"
                            + " d bigint DEFAULT 999)");
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                interleave(replication, memory, mode);
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(3334, replication.target().count("t"));
                assertEquals(3334, replication.target().count("t WHERE c IS NOT NULL AND d = 999"));

                long before = memory.streamed();
                replication.target().execute("UPDATE t SET c = 'epoch'::timestamptz + 987654321 * interval '1s'");
                source.execute("UPDATE t SET b = sha256(b)");
                memory.awaitStreamed(before);
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(
                        3334,
                        replication.target().count("t WHERE c = 'epoch'::timestamptz + 987654321 * interval '1s'"));
                run.assertRunning();
            }
            replication.with(setup -> setup.binary = Binary.ON);
            try (EngineRun run = replication.engine()) {
                replication.awaitCopied();
                long before = memory.streamed();
                source.transaction(
                        "INSERT INTO t " + ROW + "5001, 10000) i",
                        "UPDATE t SET b = sha256(b) WHERE a % 2 = 0 AND a > 5000",
                        "DELETE FROM t WHERE a % 3 = 0 AND a > 5000");
                memory.awaitStreamed(before);
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(6667, replication.target().count("t"));
                run.assertRunning();
            }
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }

    private static void interleave(Replication replication, SmallDecodingMemory memory, Mode mode) throws SQLException {
        long before = memory.streamed();
        try (Connection connection = replication.source().connect();
                Statement open = connection.createStatement()) {
            connection.setAutoCommit(false);
            open.execute("INSERT INTO t " + ROW + "3, 5000) i");
            open.execute("UPDATE t SET b = sha256(b) WHERE a % 2 = 0");
            open.execute("DELETE FROM t WHERE a % 3 = 0");
            memory.awaitStreamed(before);
            if (mode == Mode.PARALLEL) {
                replication.awaitOnTarget(
                        "1",
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
                                + " AND application_name LIKE 'pgapply/%' AND datname = current_database()");
            }
            replication.source().transaction("INSERT INTO t " + ROW + "5001, 9999) i", "DELETE FROM t WHERE a > 5000");
            replication.awaitSeen();
            assertEquals(2, replication.target().count("t"));
            connection.commit();
        }
    }

    /// 015_stream: #120, #121. Without the index at the source, the order of the commits alone decides.
    @ParameterizedTest
    @MethodSource(MODES)
    void rowsThatOnlyTheTargetForbidsStopTheRunUntilItAllowsThem(Mode mode) throws SQLException {
        try (Replication replication = Replication.newest()) {
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
            replication.both("CREATE TABLE t (a int)");
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            replication.applyUntilNow();

            replication.target().execute("CREATE UNIQUE INDEX only_here ON t (a)");
            try (EngineRun run = replication.engine();
                    Connection connection = replication.source().connect();
                    Statement open = connection.createStatement()) {
                long before = memory.streamed();
                connection.setAutoCommit(false);
                open.execute("INSERT INTO t SELECT generate_series(1, 5000)");
                memory.awaitStreamed(before);
                replication.source().execute("INSERT INTO t VALUES (1)");
                connection.commit();
                assertEquals(ErrorCode.CONFLICT, run.awaitFailure().code());
            }
            replication.target().execute("DROP INDEX only_here");
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(5001, replication.target().count("t"));

            replication.both("TRUNCATE t");
            replication.target().execute("CREATE UNIQUE INDEX only_here ON t (a)");
            try (EngineRun run = replication.engine();
                    Connection connection = replication.source().connect();
                    Statement open = connection.createStatement()) {
                replication.awaitApplied();
                long before = memory.streamed();
                connection.setAutoCommit(false);
                open.execute("INSERT INTO t SELECT generate_series(1, 5000)");
                memory.awaitStreamed(before);
                replication.source().execute("INSERT INTO t SELECT generate_series(1, 5000)");
                memory.awaitStreamed(before + 1);
                connection.commit();
                assertEquals(ErrorCode.CONFLICT, run.awaitFailure().code());
            }
            replication.target().execute("DROP INDEX only_here");
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(10000, replication.target().count("t"));
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }
}
