package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What each version of the source can do with open and prepared transactions.
final class StreamVersionsIT {

    private static final int TWO_PHASE_SINCE = 15;

    @TempDir
    private Path spool;

    @ParameterizedTest
    @CsvSource({"14, 14, ON", "15, 15, ON", "16, 16, PARALLEL", "17, 17, PARALLEL", "18, 12, PARALLEL", "18, 12, ON"})
    void openAndPreparedTransactionsArrive(int sourceMajor, int targetMajor, Mode mode) throws SQLException {
        boolean twoPhase = sourceMajor >= TWO_PHASE_SINCE;
        try (Replication replication = Replication.between(sourceMajor, targetMajor)) {
            replication.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
            replication.with(setup -> {
                setup.streaming = SmallDecodingMemory.spooling(mode, spool);
                setup.twoPhase = twoPhase;
            });
            TestDatabase source = replication.source();
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                try (Connection connection = source.connect();
                        Statement open = connection.createStatement()) {
                    connection.setAutoCommit(false);
                    open.execute("INSERT INTO t SELECT g, repeat('x', 50) FROM generate_series(1, 2000) g");
                    open.execute("SAVEPOINT s");
                    open.execute("UPDATE t SET b = 'rolled back'");
                    open.execute("ROLLBACK TO s");
                    open.execute("DELETE FROM t WHERE a % 3 = 0");
                    memory.awaitStreamed(0);
                    source.execute("INSERT INTO t VALUES (-1, 'meanwhile')");
                    replication.awaitSeen();
                    assertEquals(1, replication.target().count("t"));
                    connection.commit();
                }
                replication.awaitApplied();
                replication.assertIdentical();
                if (twoPhase) {
                    for (String end : List.of("ROLLBACK", "COMMIT")) {
                        TwoPhase021IT.prepare(source, "large", "UPDATE t SET b = repeat('y', 50)");
                        TwoPhase021IT.prepare(source, "small", "INSERT INTO t VALUES (-2, 'small')");
                        replication.awaitSeen();
                        assertEquals(
                                2, replication.target().preparedTransactions().size());
                        source.execute(end + " PREPARED 'small'", end + " PREPARED 'large'");
                        replication.awaitApplied();
                        replication.assertIdentical();
                    }
                }
                run.assertRunning();
            }
            assertEquals(List.of(), SmallDecodingMemory.files(spool, ""));
        }
    }

    @ParameterizedTest
    @CsvSource({"13, ON, false", "14, ON, true", "14, PARALLEL, false", "15, PARALLEL, false"})
    void whatASourceCannotDoIsSaid(int sourceMajor, Mode mode, boolean twoPhase) {
        try (Replication replication = Replication.between(sourceMajor, TestServers.NEWEST)) {
            replication.both("CREATE TABLE t (a int PRIMARY KEY)");
            replication.with(setup -> {
                setup.streaming = SmallDecodingMemory.spooling(mode, spool);
                setup.twoPhase = twoPhase;
            });
            try (EngineRun run = replication.engine()) {
                ApplyException failure = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, failure.code());
                assertTrue(
                        String.valueOf(failure.getMessage()).contains("PostgreSQL " + sourceMajor),
                        failure::getMessage);
                assertTrue(failure.hint().contains(twoPhase ? "--two-phase" : "--streaming"), failure::hint);
            }
        }
    }
}
