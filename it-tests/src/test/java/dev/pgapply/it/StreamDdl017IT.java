package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 017_stream_ddl: tables that change within streamed transactions. The target has all columns from the start.
final class StreamDdl017IT {

    @TempDir
    private Path spool;

    /// 017_stream_ddl: #125, #126, #127
    @ParameterizedTest
    @MethodSource("dev.pgapply.it.SmallDecodingMemory#modes")
    void everyRowComesWithTheColumnsOfItsMoment(Mode mode) {
        try (Replication replication = Replication.newest()) {
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
            TestDatabase source = replication.source();
            source.execute("CREATE TABLE t (a int PRIMARY KEY, b text)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
            replication.target().execute("CREATE TABLE t (a int PRIMARY KEY, b text, c int, d int, e int, f int)");
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                source.transaction(
                        "INSERT INTO t VALUES (3, md5('3'))",
                        "ALTER TABLE t ADD COLUMN c int",
                        "SAVEPOINT s1",
                        "INSERT INTO t VALUES (4, md5('4'), -4)");
                replication.awaitSeen();
                replication.assertIdentical();

                long before = memory.streamed();
                source.transaction(
                        "INSERT INTO t SELECT g, md5(g::text), -g FROM generate_series(5, 1000) g",
                        "ALTER TABLE t ADD COLUMN d int",
                        "SAVEPOINT s1",
                        "INSERT INTO t SELECT g, md5(g::text), -g, 2 * g FROM generate_series(1001, 2000) g");
                source.transaction(
                        "INSERT INTO t VALUES (2001, md5('2001'), -2001, 2 * 2001)",
                        "ALTER TABLE t ADD COLUMN e int",
                        "SAVEPOINT s1",
                        "INSERT INTO t VALUES (2002, md5('2002'), -2002, 2 * 2002, -3 * 2002)");
                memory.awaitStreamed(before);
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(Optional.of("2002 1999 1002 1"), counts(replication, "count(c), count(d), count(e)"));

                long second = memory.streamed();
                source.transaction(
                        "INSERT INTO t SELECT g, md5(g::text), -g, 2 * g, -3 * g FROM generate_series(2003, 5000) g",
                        "ALTER TABLE t ADD COLUMN f int");
                source.execute("INSERT INTO t VALUES (5001, md5('5001'), -5001, 2 * 5001, -3 * 5001)");
                source.transaction(
                        "INSERT INTO t VALUES (5002, md5('5002'), 1, 2, 3, 4)",
                        "INSERT INTO t SELECT g, md5(g::text), -g, 2 * g, -3 * g, g FROM generate_series(5003, 5005) g");
                source.execute("UPDATE t SET f = 0 WHERE a = 1");
                memory.awaitStreamed(second);
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(
                        Optional.of("5005 5002 4005 3004 5"),
                        counts(replication, "count(c), count(d), count(e), count(f)"));
                run.assertRunning();
            }
        }
    }

    private static Optional<String> counts(Replication replication, String counts) {
        return replication.target().query("SELECT concat_ws(' ', count(*), " + counts + ") FROM t");
    }
}
