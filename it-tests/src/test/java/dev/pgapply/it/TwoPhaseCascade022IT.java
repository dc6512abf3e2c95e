package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.Subscription.Origin;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 022_twophase_cascade: three databases in a row.
final class TwoPhaseCascade022IT {

    @TempDir
    private Path spool;

    static List<Mode> modes() {
        return TwoPhase021IT.modes();
    }

    /// 022_twophase_cascade: #155, #156, #157, #158, #159; and what `--origin none` keeps where it was received.
    @ParameterizedTest
    @MethodSource("modes")
    void preparedTransactionsPassThroughADatabaseInTheMiddle(Mode mode) {
        try (Replication first = Replication.newest();
                Replication third = Replication.newest();
                Replication fourth = Replication.newest()) {
            Replication onward = Replication.besides(first.target(), third.target());
            Replication ownOnly = Replication.besides(first.target(), fourth.target());
            String table = "CREATE TABLE t (a int PRIMARY KEY, b text)";
            first.both(table);
            third.target().execute(table);
            fourth.target().execute(table);
            for (Replication hop : List.of(first, onward, ownOnly)) {
                hop.with(setup -> {
                    setup.streaming = SmallDecodingMemory.spooling(mode, spool);
                    setup.twoPhase = true;
                });
            }
            ownOnly.with(setup -> setup.origin = Origin.NONE);
            SmallDecodingMemory memory = SmallDecodingMemory.of64Kilobytes(first);
            SmallDecodingMemory inTheMiddle = SmallDecodingMemory.of64Kilobytes(onward);
            List<TestDatabase> behind = List.of(first.target(), third.target());
            try (EngineRun a = first.engine()) {
                first.awaitApplied();
                try (EngineRun b = onward.engine();
                        EngineRun c = ownOnly.engine()) {
                    onward.awaitApplied();
                    ownOnly.awaitApplied();
                    long passedOn = inTheMiddle.streamed();
                    for (String end : List.of("ROLLBACK", "COMMIT")) {
                        for (Statements statements : STATEMENTS) {
                            TwoPhase021IT.prepare(
                                    first.source(), "p", statements.list().toArray(String[]::new));
                            settle(first, onward, ownOnly);
                            behind.forEach(database -> assertEquals(
                                    1, database.preparedTransactions().size(), statements.name()));
                            assertEquals(List.of(), fourth.target().preparedTransactions());
                            first.source().execute(end + " PREPARED 'p'");
                            settle(first, onward, ownOnly);
                            behind.forEach(database -> assertEquals(List.of(), database.preparedTransactions()));
                            first.assertIdentical();
                            Replication.assertIdentical(first.source(), third.target());
                        }
                    }
                    TwoPhase021IT.prepare(first.target(), "own", "INSERT INTO t VALUES (-1, 'in the middle')");
                    settle(first, onward, ownOnly);
                    assertEquals(1, fourth.target().preparedTransactions().size());
                    first.target().execute("COMMIT PREPARED 'own'");
                    settle(first, onward, ownOnly);
                    Replication.assertIdentical(first.target(), third.target());
                    assertEquals(
                            List.of("(-1,\"in the middle\")"), fourth.target().rows("t"));
                    if (mode != Mode.OFF) {
                        memory.awaitStreamed(1);
                        inTheMiddle.awaitStreamed(passedOn + 1);
                    }
                    List.of(a, b, c).forEach(EngineRun::assertRunning);
                }
            }
            onward.close();
            ownOnly.close();
        }
    }

    private static void settle(Replication first, Replication... onward) {
        first.awaitSeen();
        for (Replication next : onward) {
            next.awaitSeen();
        }
    }

    private record Statements(String name, List<String> list) {}

    private static final List<Statements> STATEMENTS = List.of(
            new Statements("one row", List.of("INSERT INTO t SELECT count(*) + 10000, 'x' FROM t")),
            new Statements(
                    "a savepoint that is rolled back",
                    List.of(
                            "INSERT INTO t SELECT count(*) + 20000, 'x' FROM t",
                            "SAVEPOINT s",
                            "INSERT INTO t VALUES (22, 'x')",
                            "ROLLBACK TO s")),
            new Statements(
                    "many rows",
                    List.of(
                            "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 3000) g",
                            "UPDATE t SET b = md5(b) WHERE a % 2 = 0",
                            "DELETE FROM t WHERE a % 3 = 0",
                            "UPDATE t SET a = a + 100000 WHERE a < 10000")),
            new Statements(
                    "many rows under a savepoint that is rolled back",
                    List.of(
                            "INSERT INTO t SELECT count(*) + 30000, 'foobar' FROM t",
                            "SAVEPOINT s",
                            "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 3000) g",
                            "DELETE FROM t WHERE a % 3 = 0",
                            "ROLLBACK TO s")));
}
