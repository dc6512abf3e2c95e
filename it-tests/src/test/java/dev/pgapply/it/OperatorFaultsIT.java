package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What comes up in the middle of a run and needs a person, and how a person ends a run.
final class OperatorFaultsIT {

    private static final Map<String, String> QUICK = Map.of("PGAPPLY_TIER", "1");

    private static Launcher start(Replication replication, String... more) {
        List<String> arguments = new java.util.ArrayList<>(List.of(
                "run",
                "--name",
                replication.name(),
                "--source",
                replication.source().uri(),
                "--target",
                replication.target().uri()));
        arguments.addAll(List.of(more));
        return Launcher.start(arguments, QUICK);
    }

    /// The fault is mended: the next run goes on where the last one stopped.
    private static void expectGoesOn(Replication replication) {
        try (Launcher run = start(replication, "--until", "now")) {
            assertEquals(0, run.awaitExit(), run::stderr);
        }
        replication.assertIdentical();
    }

    /// The source transaction that wrote a row.
    private static String xid(Replication replication, String table, int id) {
        return replication
                .source()
                .query("SELECT xmin FROM " + table + " WHERE id = " + id)
                .orElseThrow();
    }

    @Test
    void aUniqueViolationNamesEverythingButTheValues() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE t (id int PRIMARY KEY, \"E-mail\" text, CONSTRAINT one_each UNIQUE (\"E-mail\"))");
            replication.source().execute("INSERT INTO t VALUES (1, 'ann@example.com')");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.target().execute("INSERT INTO t VALUES (100, 'bob@example.com')");
                replication.source().execute("INSERT INTO t VALUES (2, 'before@example.com')");
                replication
                        .source()
                        .transaction(
                                "INSERT INTO t VALUES (3, 'same@example.com')",
                                "INSERT INTO t VALUES (4, 'bob@example.com')",
                                "INSERT INTO t VALUES (5, 'also@example.com')");
                replication.source().execute("INSERT INTO t VALUES (6, 'after@example.com')");
                FailedRun failed = FailedRun.expect(
                        run,
                        6,
                        "CONFLICT",
                        "table public.t",
                        "(row identified by id)",
                        "constraint \"one_each\"",
                        "(\"E-mail\")",
                        "transaction " + xid(replication, "t", 4),
                        "committed at ",
                        "start the run again");
                assertFalse(failed.stderr().contains("example.com"), failed::stderr);
                assertTrue(failed.error().matches("(?s).*committed at [0-9A-F]+/[0-9A-F]+.*"), failed::error);
            }
            assertEquals(List.of("1", "2", "100"), replication.target().queryAll("SELECT id FROM t ORDER BY id"));
            replication.target().execute("DELETE FROM t WHERE id = 100");
            expectGoesOn(replication);
        }
    }

    @Test
    void aTruncateAgainstAForeignKeyNamesTheReferringTable() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.target().execute("CREATE TABLE orders (id int, t int CONSTRAINT orders_t_fkey REFERENCES t)");
            replication.source().execute("INSERT INTO t VALUES (1)");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (2)");
                replication.source().transaction("INSERT INTO t VALUES (3)", "TRUNCATE t", "INSERT INTO t VALUES (4)");
                FailedRun.expect(
                        run,
                        6,
                        "CHANGE_REJECTED",
                        "table public.t",
                        "\"orders\"",
                        "foreign key",
                        "committed at ",
                        "start the run again");
            }
            assertEquals(List.of("1", "2"), replication.target().queryAll("SELECT id FROM t ORDER BY id"));
            replication.target().execute("ALTER TABLE orders DROP CONSTRAINT orders_t_fkey");
            expectGoesOn(replication);
        }
    }

    @Test
    void aColumnThatTheTargetLacksInMidStreamIsNamedWithTheSqlThatAddsIt() throws SQLException {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.source().execute("INSERT INTO t VALUES (1)");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                whileTheTargetIsLocked(replication, () -> {
                    // These wait together, and so come in one group.
                    replication
                            .source()
                            .execute(
                                    "INSERT INTO t VALUES (3)",
                                    "ALTER TABLE t ADD COLUMN \"Price\" numeric(10,2), ADD COLUMN n int",
                                    "INSERT INTO t VALUES (4, 1.5, 7)");
                });
                FailedRun failed = FailedRun.expect(
                        run,
                        6,
                        "SCHEMA_MISMATCH",
                        "table public.t of the target lacks the columns Price, n",
                        "ALTER TABLE \"public\".\"t\" ADD COLUMN \"Price\" numeric(10,2), ADD COLUMN \"n\" integer;",
                        "commit position ",
                        "start the run again");
                assertEquals(List.of("1", "2", "3"), replication.target().queryAll("SELECT id FROM t ORDER BY id"));
                replication.target().execute(failed.sql());
            }
            expectGoesOn(replication);
        }
    }

    /// Inserts row 2, and does the rest while that waits for a lock on the target.
    private static void whileTheTargetIsLocked(Replication replication, Runnable rest) throws SQLException {
        try (Connection holder = replication.target().connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
            replication.source().execute("INSERT INTO t VALUES (2)");
            replication.awaitOnTarget(
                    "1",
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");
            rest.run();
            holder.rollback();
        }
    }

    @Test
    void aTableThatTheTargetLacksInMidStreamIsNamedWithTheSqlThatMakesIt() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (2)");
                replication.awaitApplied();
                replication.target().execute("DROP TABLE t");
                replication.source().execute("INSERT INTO t VALUES (3)");
                FailedRun failed = FailedRun.expect(
                        run,
                        6,
                        "SCHEMA_MISMATCH",
                        "table public.t does not exist on the target",
                        "CREATE TABLE \"public\".\"t\" (\"id\" integer NOT NULL, PRIMARY KEY (\"id\"));",
                        "start the run again");
                replication.target().execute(failed.sql());
            }
            try (Launcher run = start(replication, "--until", "now")) {
                assertEquals(0, run.awaitExit(), run::stderr);
            }
            assertEquals(List.of("3"), replication.target().queryAll("SELECT id FROM t"));
        }
    }

    @Test
    void aCharacterThatTheTargetsEncodingLacksIsNamedWithItsColumn() {
        TestDatabase latin =
                TestServers.target(TestServers.NEWEST).database("TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
        try (Replication replication =
                Replication.of(TestServers.source(TestServers.NEWEST).database(), latin)) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY, fine text, odd text)");
            replication.source().execute("INSERT INTO t VALUES (1, 'é', 'ok'), (2, 'é', '10 €')");
            try (Launcher run = start(replication)) {
                assertEncoding(FailedRun.expect(
                        run, 6, "CHANGE_REJECTED", "table public.t", "LATIN1", "UTF8", "start the run again"));
            }
            replication.source().execute("UPDATE t SET odd = '10 EUR' WHERE id = 2");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (3, 'è', 'before')");
                replication.source().execute("UPDATE t SET fine = 'ç', odd = '20 €' WHERE id = 1");
                assertEncoding(FailedRun.expect(
                        run,
                        6,
                        "CHANGE_REJECTED",
                        "table public.t, column odd",
                        "LATIN1",
                        "UTF8",
                        "committed at ",
                        "start the run again"));
            }
            assertEquals(
                    List.of("é", "è"),
                    replication.target().queryAll("SELECT fine FROM t WHERE id IN (1, 3) ORDER BY id"));
        }
    }

    private static void assertEncoding(FailedRun failed) {
        assertFalse(failed.stderr().contains("0xe2"), () -> "a part of the value is shown: " + failed.stderr());
        assertFalse(failed.stderr().contains("€"), failed::stderr);
    }

    @Test
    void aValueThatTheTargetsTypeLacksIsNamedWithItsColumn() {
        try (Replication replication = Replication.newest()) {
            replication.source().execute("CREATE TABLE t (id int PRIMARY KEY, fine text, odd text)");
            replication
                    .target()
                    .execute("CREATE TABLE t (id int PRIMARY KEY, odd int, fine text CHECK (fine <> 'bad'))");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (1, 'x', 'secret word')");
                FailedRun failed = FailedRun.expect(
                        run,
                        6,
                        "CHANGE_REJECTED",
                        "table public.t, column odd",
                        "invalid input syntax for type integer",
                        "committed at ");
                assertFalse(failed.stderr().contains("secret"), failed::stderr);
            }
            replication.target().execute("ALTER TABLE t ALTER odd TYPE text");
            try (Launcher run = start(replication)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (2, 'bad', 'y')");
                FailedRun.expect(run, 6, "CHANGE_REJECTED", "table public.t", "t_fine_check", "committed at ");
            }
            replication.target().execute("ALTER TABLE t DROP CONSTRAINT t_fine_check");
            expectGoesOn(replication);
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, false, 0", "INT, false, 0", "TERM, true, 143", "INT, true, 130"})
    void aSignalEndsTheRunInGoodOrder(String signal, boolean until, int exitCode) {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.source().execute("INSERT INTO t VALUES (1)");
            String[] end = until ? new String[] {"--until", "FFFFFFFF/0"} : new String[0];
            try (Launcher run = start(replication, end)) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO t VALUES (2)");
                replication.awaitApplied();
                if (signal.equals("INT")) {
                    run.interrupt();
                } else {
                    run.terminate();
                }
                assertEquals(exitCode, run.awaitExit(), run::stderr);
                assertTrue(run.stderr().contains("SIG" + signal + ": stopping"), run::stderr);
                assertFalse(run.stderr().contains("pgapply: "), run::stderr);
            }
            replication.source().execute("INSERT INTO t VALUES (3)");
            expectGoesOn(replication);
        }
    }
}
