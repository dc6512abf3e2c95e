package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 016_stream_subxact, 018_stream_subxact_abort, 019_stream_subxact_ddl_abort: savepoints in streamed
/// transactions.
final class StreamSubtransactions016IT {

    @TempDir
    private Path spool;

    /// 016_stream_subxact: #123, #124; 018_stream_subxact_abort: #128, #129, #130, #131, #132, #133;
    /// 019_stream_subxact_ddl_abort: #134
    @ParameterizedTest
    @MethodSource("dev.pgapply.it.SmallDecodingMemory#modes")
    void whatIsRolledBackOfAStreamedTransactionDoesNotArrive(Mode mode) {
        try (Replication replication = Replication.newest()) {
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
            replication.source().execute("CREATE TABLE t (a int PRIMARY KEY, b text)");
            replication
                    .target()
                    .execute("CREATE TABLE t (a int PRIMARY KEY, b text, c int, d int DEFAULT 4, e int DEFAULT 5)");
            SmallDecodingMemory memory = SmallDecodingMemory.none(replication);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (Script script : SCRIPTS) {
                    long before = memory.streamed();
                    replication.source().execute("TRUNCATE t");
                    replication.source().execute("INSERT INTO t SELECT g, 'before' FROM generate_series(1, 2) g");
                    replication.source().execute(script.statements().toArray(String[]::new));
                    memory.awaitStreamed(before + 2);
                    replication.awaitSeen();
                    assertEquals(
                            script.rows(),
                            replication
                                    .target()
                                    .query("SELECT string_agg(a::text, ' ' ORDER BY a)" + " FROM t")
                                    .orElseThrow(),
                            script.name());
                    replication.assertIdentical();
                    assertEquals(List.of(), SmallDecodingMemory.spoolFiles(spool), script.name());
                }
                run.assertRunning();
            }
        }
    }

    /// @param rows the keys that must be left of 1 and 2 and what the statements add
    private record Script(String name, String rows, List<String> statements) {

        Script(String name, String rows, String... statements) {
            this(name, rows, List.of(statements));
        }
    }

    private static final List<Script> SCRIPTS = List.of(
            new Script(
                    "inserts, updates and deletes under four savepoints",
                    "1 2 4 5 7 8 10 11 13 14 16 17",
                    "BEGIN",
                    "INSERT INTO t SELECT g, sha256(g::text::bytea)::text FROM generate_series(3, 5) g",
                    "UPDATE t SET b = md5(b) WHERE a % 2 = 0",
                    "DELETE FROM t WHERE a % 3 = 0",
                    "SAVEPOINT s1",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(6, 8) g",
                    "UPDATE t SET b = md5(b) WHERE a % 2 = 0",
                    "DELETE FROM t WHERE a % 3 = 0",
                    "SAVEPOINT s2",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(9, 11) g",
                    "DELETE FROM t WHERE a % 3 = 0",
                    "SAVEPOINT s3",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(12, 14) g",
                    "UPDATE t SET b = md5(b) WHERE a % 2 = 0",
                    "DELETE FROM t WHERE a % 3 = 0",
                    "SAVEPOINT s4",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(15, 17) g",
                    "DELETE FROM t WHERE a % 3 = 0",
                    "COMMIT"),
            new Script(
                    "back to an inner and then an outer savepoint",
                    "1 2 3 7 8 9",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, md5('3'))",
                    "SAVEPOINT s1",
                    "INSERT INTO t VALUES (4, md5('4'))",
                    "SAVEPOINT s2",
                    "INSERT INTO t VALUES (5, md5('5'))",
                    "SAVEPOINT s3",
                    "INSERT INTO t VALUES (6, md5('6'))",
                    "ROLLBACK TO s2",
                    "INSERT INTO t VALUES (6, md5('7'))",
                    "ROLLBACK TO s1",
                    "INSERT INTO t VALUES (7, md5('8'))",
                    "SAVEPOINT s4",
                    "INSERT INTO t VALUES (8, md5('9'))",
                    "SAVEPOINT s5",
                    "INSERT INTO t VALUES (9, md5('10'))",
                    "COMMIT"),
            new Script(
                    "a released savepoint inside of one that is rolled back",
                    "1 2 3",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, 'stays')",
                    "SAVEPOINT s1",
                    "INSERT INTO t VALUES (4, md5('4'))",
                    "SAVEPOINT s2",
                    "INSERT INTO t VALUES (5, md5('5'))",
                    "SAVEPOINT s3",
                    "INSERT INTO t VALUES (6, md5('6'))",
                    "RELEASE s2",
                    "INSERT INTO t VALUES (7, md5('7'))",
                    "ROLLBACK TO s1",
                    "COMMIT"),
            new Script(
                    "all of it rolled back",
                    "1 2",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, md5('3'))",
                    "SAVEPOINT s1",
                    "INSERT INTO t VALUES (4, md5('4'))",
                    "DELETE FROM t WHERE a = 1",
                    "ROLLBACK"),
            new Script(
                    "one savepoint rolled back at the end",
                    "1 2 3",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, md5('3'))",
                    "SAVEPOINT s1",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(4, 50) g",
                    "ROLLBACK TO s1",
                    "COMMIT"),
            new Script(
                    "nothing left but the transaction itself",
                    "1 2",
                    "BEGIN",
                    "SAVEPOINT s1",
                    "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(4, 50) g",
                    "ROLLBACK TO s1",
                    "COMMIT"),
            new Script(
                    "columns added and dropped under savepoints, all but the first rolled back",
                    "1 2 3 4",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, md5('3'))",
                    "ALTER TABLE t ADD COLUMN c int",
                    "INSERT INTO t VALUES (4, md5('4'), -4)",
                    "SAVEPOINT s1",
                    "ALTER TABLE t ADD COLUMN d int",
                    "INSERT INTO t VALUES (5, md5('5'), -5, 10)",
                    "ALTER TABLE t ADD COLUMN e text",
                    "INSERT INTO t VALUES (6, md5('6'), -6, 11, 'e')",
                    "ALTER TABLE t DROP COLUMN c",
                    "INSERT INTO t VALUES (7, md5('7'), 12, 'e')",
                    "ROLLBACK TO s1",
                    "COMMIT"),
            new Script(
                    "rows after columns that were rolled back",
                    "1 2 3 4",
                    "BEGIN",
                    "INSERT INTO t VALUES (3, md5('3'), -3)",
                    "SAVEPOINT s1",
                    "ALTER TABLE t DROP COLUMN b",
                    "ALTER TABLE t ADD COLUMN d int",
                    "INSERT INTO t VALUES (5, -5, 7)",
                    "ROLLBACK TO s1",
                    "INSERT INTO t VALUES (4, md5('4'), -4)",
                    "COMMIT"));
}
