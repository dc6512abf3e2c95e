package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription.Origin;
import dev.pgapply.apply.Subscription.TargetRows;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 030_origin: what a database has received itself is passed on or not, as the subscription wishes.
final class Origins030IT {

    /// 030_origin: #216
    @Test
    void twoDatabasesThatFollowEachOtherMakeNoLoop() {
        try (Replication there = Replication.newest()) {
            Replication back = reverse(there);
            there.both("CREATE TABLE t (a int PRIMARY KEY, b text)");
            there.with(setup -> setup.origin = Origin.NONE);
            back.with(setup -> {
                setup.origin = Origin.NONE;
                setup.copyData = false;
            });
            there.source().execute("INSERT INTO t VALUES (1, 'a')");
            try (EngineRun run = there.engine()) {
                there.awaitApplied();
                try (EngineRun runBack = back.engine()) {
                    back.awaitApplied();
                    there.source().execute("INSERT INTO t VALUES (11, 'a')");
                    there.target().execute("INSERT INTO t VALUES (21, 'b')");
                    settle(there, back);
                    assertEquals(
                            List.of("(1,a)", "(11,a)", "(21,b)"), there.source().rows("t"));
                    there.assertIdentical();
                    there.source().execute("UPDATE t SET b = 'x' WHERE a = 21", "DELETE FROM t WHERE a = 1");
                    settle(there, back);
                    there.target().execute("UPDATE t SET a = 12 WHERE a = 11", "INSERT INTO t VALUES (1, 'again')");
                    settle(there, back);
                    assertEquals(
                            List.of("(1,again)", "(12,a)", "(21,x)"),
                            there.source().rows("t"));
                    there.assertIdentical();
                    run.assertRunning();
                    runBack.assertRunning();
                }
            }
            dropOrigin(back);
        }
    }

    /// 030_origin: #216, a table that joins later while both directions run
    @Test
    void neitherCopiedRowsNorTheEmptyingBeforeTheCopyComeBack() {
        try (Replication there = Replication.newest()) {
            Replication back = reverse(there);
            there.both("CREATE TABLE t (a int PRIMARY KEY)", "CREATE TABLE later (a int PRIMARY KEY)");
            there.source().execute("CREATE PUBLICATION p FOR TABLE t");
            there.target().execute("CREATE PUBLICATION q FOR ALL TABLES");
            there.with(setup -> {
                setup.origin = Origin.NONE;
                setup.publications = List.of("p");
                setup.targetRows = TargetRows.TRUNCATE;
            });
            there.target().execute("INSERT INTO later VALUES (1), (1000)");
            back.with(setup -> {
                setup.origin = Origin.NONE;
                setup.copyData = false;
                setup.publications = List.of("q");
            });
            try (EngineRun run = there.engine()) {
                there.awaitApplied();
                try (EngineRun runBack = back.engine()) {
                    back.awaitApplied();
                    there.source()
                            .execute(
                                    "INSERT INTO later SELECT generate_series(1, 100)",
                                    "ALTER PUBLICATION p ADD TABLE later",
                                    "INSERT INTO later VALUES (101)");
                    settle(there, back);
                    there.assertIdentical();
                    there.target().execute("INSERT INTO later VALUES (102)", "DELETE FROM later WHERE a <= 50");
                    settle(there, back);
                    there.assertIdentical();
                    run.assertRunning();
                    runBack.assertRunning();
                }
            }
            dropOrigin(back);
        }
    }

    /// 030_origin: #217
    @Test
    void changesOfAThirdDatabaseStayWhereTheyWereReceived() {
        try (Replication first = Replication.newest();
                Replication none = Replication.newest();
                Replication any = Replication.newest()) {
            Replication onward = Replication.of(first.target(), none.target());
            Replication everything = Replication.of(first.target(), any.target());
            String table = "CREATE TABLE t (a int PRIMARY KEY)";
            first.both(table);
            none.target().execute(table);
            any.target().execute(table);
            onward.with(setup -> setup.origin = Origin.NONE);
            try (EngineRun a = first.engine()) {
                first.awaitApplied();
                assertEquals(List.of("t"), warnedOf(onward));
                try (EngineRun b = onward.engine();
                        EngineRun c = everything.engine()) {
                    onward.awaitApplied();
                    everything.awaitApplied();
                    first.source().execute("INSERT INTO t VALUES (32)");
                    first.awaitApplied();
                    first.target().execute("INSERT INTO t VALUES (33)");
                    onward.awaitApplied();
                    everything.awaitApplied();
                    assertEquals(List.of("(32)", "(33)"), first.target().rows("t"));
                    assertEquals(List.of("(33)"), none.target().rows("t"));
                    assertEquals(List.of("(32)", "(33)"), any.target().rows("t"));
                    List.of(a, b, c).forEach(EngineRun::assertRunning);
                }
            }
            dropOrigin(onward);
            dropOrigin(everything);
        }
    }

    /// 030_origin: #220, #221, #222, #223
    @Test
    void copyOfRowsThatTheSourceReceivedItselfIsWarnedOf() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TABLE own (a int)",
                    "CREATE TABLE received (a int)",
                    "CREATE TABLE later (a int)",
                    "CREATE TABLE leaf_received (a int) PARTITION BY RANGE (a)",
                    "CREATE TABLE leaf_received_1 PARTITION OF leaf_received DEFAULT",
                    "CREATE TABLE root_received (a int) PARTITION BY RANGE (a)",
                    "CREATE TABLE root_received_1 PARTITION OF root_received DEFAULT");
            TestServer server = replication.target().server();
            replication
                    .target()
                    .execute("CREATE PUBLICATION native FOR TABLE received, later, leaf_received_1, root_received"
                            + " WITH (publish_via_partition_root = true)");
            replication
                    .source()
                    .execute(
                            "CREATE SUBSCRIPTION it_native_030 CONNECTION 'host=" + server.host() + " port="
                                    + server.port()
                                    + " user=postgres password=''" + server.password() + "'' dbname="
                                    + replication.target().name() + "' PUBLICATION native WITH (copy_data = false)",
                            "CREATE PUBLICATION p FOR TABLE own, received, leaf_received WITH (publish_via_partition_root = true)",
                            "CREATE PUBLICATION q FOR TABLE root_received_1");
            try {
                replication.with(setup -> {
                    setup.origin = Origin.NONE;
                    setup.publications = List.of("p", "q");
                });
                assertEquals(List.of("leaf_received", "received", "root_received_1"), warnedOf(replication));
                assertEquals(List.of(), warnedOf(replication));
                replication.source().execute("ALTER PUBLICATION p ADD TABLE later");
                assertEquals(List.of("later"), warnedOf(replication));
            } finally {
                replication.source().execute("DROP SUBSCRIPTION it_native_030");
            }
        }
    }

    private static List<String> warnedOf(Replication replication) {
        try (EngineRun run = replication.engine()) {
            replication.awaitApplied();
            return run.events(EngineEvent.Warning.class).stream()
                    .map(EngineEvent.Warning::message)
                    .filter(message -> message.contains("receives rows from elsewhere"))
                    .map(message -> message.replaceAll("^table public\\.(\\w+) .*", "$1"))
                    .sorted()
                    .toList();
        }
    }

    private static Replication reverse(Replication replication) {
        return Replication.of(replication.target(), replication.source());
    }

    private static void settle(Replication there, Replication back) {
        there.awaitApplied();
        back.awaitApplied();
        there.awaitApplied();
    }

    /// The databases of such a subscription belong to others, which drop them.
    private static void dropOrigin(Replication replication) {
        replication
                .target()
                .queryAll(
                        "SELECT pg_replication_origin_drop(roname) FROM pg_replication_origin WHERE roname LIKE 'pgapply_"
                                + replication.name() + "%'");
    }
}
