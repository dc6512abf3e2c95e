package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.cli.embedded.PostgresServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// 010_truncate
final class Truncate010IT {

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest().with(setup -> setup.publications = List.of("all_actions", "inserts"));
        replication.both(
                "CREATE TABLE tab1 (a int PRIMARY KEY)",
                "CREATE TABLE tab2 (a int PRIMARY KEY)",
                "CREATE TABLE tab3 (a int PRIMARY KEY)",
                "CREATE TABLE tab4 (x int PRIMARY KEY, y int REFERENCES tab3)",
                "CREATE TABLE published (a int)",
                "CREATE TABLE unpublished (a int)");
        replication
                .source()
                .execute(
                        "CREATE PUBLICATION all_actions FOR TABLE tab1, tab3, tab4, published",
                        "CREATE PUBLICATION inserts FOR TABLE tab2 WITH (publish = 'insert')",
                        "INSERT INTO tab2 VALUES (1), (2), (3)",
                        "INSERT INTO unpublished VALUES (1), (2), (3)");
        replication
                .target()
                .execute(
                        "CREATE SEQUENCE seq1 OWNED BY tab1.a",
                        "ALTER SEQUENCE seq1 START 101",
                        "INSERT INTO unpublished VALUES (1), (2), (3)");
        run = replication.engine();
        replication.awaitSeen();
    }

    @AfterAll
    static void stop() {
        try {
            run.close();
        } finally {
            replication.close();
        }
    }

    private static String nextval() {
        return replication.target().query("SELECT nextval('seq1')").orElseThrow();
    }

    /// 010_truncate: #71, #72
    @Test
    void sequencesOfTheTargetRestartOnlyWhereThatWasAsked() {
        replication.source().execute("INSERT INTO tab1 VALUES (1), (2), (3)");
        replication.awaitSeen();
        assertEquals(3, replication.target().count("tab1"));
        replication.source().execute("TRUNCATE tab1");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("tab1"));
        assertEquals("1", nextval());
        replication.source().execute("TRUNCATE tab1 RESTART IDENTITY");
        replication.awaitSeen();
        assertEquals("101", nextval());
    }

    /// 010_truncate: #73, #74
    @Test
    void whetherItIsSentIsUpToThePublication() {
        replication.source().execute("TRUNCATE tab2");
        replication.awaitSeen();
        assertEquals(3, replication.target().count("tab2"));
        replication
                .source()
                .execute(
                        "ALTER PUBLICATION inserts SET (publish = 'insert, truncate')",
                        "INSERT INTO tab2 VALUES (4)",
                        "TRUNCATE tab2");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("tab2"));
    }

    /// 010_truncate: #75
    @Test
    void tablesThatReferToEachOtherAreEmptiedTogether() {
        replication.source().execute("INSERT INTO tab3 VALUES (1), (2)", "INSERT INTO tab4 VALUES (10, 1), (20, 2)");
        replication.awaitSeen();
        replication.assertIdentical("tab3", "tab4");
        replication.source().execute("TRUNCATE tab3, tab4");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("tab3"));
        assertEquals(0, replication.target().count("tab4"));
        replication
                .source()
                .execute("INSERT INTO tab3 VALUES (1)", "INSERT INTO tab4 VALUES (10, 1)", "TRUNCATE tab3 CASCADE");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("tab3"));
        assertEquals(0, replication.target().count("tab4"));
    }

    /// 010_truncate: #76
    @Test
    void tablesThatAreNotPublishedKeepTheirRows() {
        replication
                .source()
                .execute(
                        "INSERT INTO published VALUES (1), (2)",
                        "INSERT INTO published VALUES (3)",
                        "TRUNCATE published, unpublished");
        replication.awaitSeen();
        assertEquals(0, replication.target().count("published"));
        assertEquals(3, replication.target().count("unpublished"));
        run.assertRunning();
    }

    /// 010_truncate: #77
    @Test
    void aSourceThatCommitsSynchronouslyWithThisSubscriptionIsNotHeldUp() {
        try (PostgresServer server = PostgresServer.major(TestServers.NEWEST).start();
                Replication own = Replication.of(
                        new TestServer.Embedded(server).database(),
                        TestServers.target(TestServers.NEWEST).database())) {
            own.both("CREATE TABLE tab1 (a int PRIMARY KEY)");
            try (EngineRun engine = own.engine()) {
                own.awaitSeen();
                server.set("synchronous_standby_names", "\"pgapply/" + own.name() + "\"");
                server.reload();
                // Each of them returns only when it is confirmed.
                own.source()
                        .execute(
                                "INSERT INTO tab1 VALUES (1), (2), (3)",
                                "TRUNCATE tab1",
                                "INSERT INTO tab1 VALUES (4)",
                                "TRUNCATE tab1");
                assertEquals(0, own.target().count("tab1"));
                engine.assertRunning();
                server.set("synchronous_standby_names", "");
                server.reload();
            }
        }
    }

    /// 010_truncate: #78
    @Test
    void twoSubscriptionsIntoOneTableDoNotBlockEachOther() {
        try (Replication first = Replication.newest();
                Replication second = Replication.besides(first.source(), first.target())) {
            first.both("CREATE TABLE tab5 (a int)");
            try (EngineRun one = first.engine();
                    EngineRun other = second.engine()) {
                first.awaitSeen();
                second.awaitSeen();
                first.source().execute("INSERT INTO tab5 VALUES (1), (2), (3)");
                first.awaitSeen();
                second.awaitSeen();
                assertEquals(6, first.target().count("tab5"));
                first.source().execute("TRUNCATE tab5");
                first.awaitSeen();
                second.awaitSeen();
                assertEquals(0, first.target().count("tab5"));
                assertEquals(
                        "0",
                        first.target()
                                .query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
                                .orElseThrow());
                one.assertRunning();
                other.assertRunning();
            }
        }
    }
}
