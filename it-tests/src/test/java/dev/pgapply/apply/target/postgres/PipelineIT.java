package dev.pgapply.apply.target.postgres;

import static dev.pgapply.apply.target.postgres.Pipeline.BINARY;
import static dev.pgapply.apply.target.postgres.Pipeline.TEXT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.PostgresServer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.BaseConnection;

/// The pipeline against the oldest and the newest server.
@ParameterizedClass
@ValueSource(ints = {10, 18})
@Timeout(120)
@SuppressWarnings("NullAway.Init")
class PipelineIT {

    private static final byte[] COPY_HEADER = HexFormat.of().parseHex("5047434f50590aff0d0a000000000000000000");
    private static final byte[] COPY_TRAILER = {-1, -1};

    /// Fifty thousand times in both directions.
    private static final String MORE_THAN_SOCKETS_HOLD = "x".repeat(1500);

    private static PostgresServer server;

    @Parameter
    int major;

    private PipelineConnection target;
    private Pipeline pipeline;

    @BeforeParameterizedClassInvocation
    static void start(int major) {
        server = PostgresServer.major(major).start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws SQLException {
        target = PipelineConnection.open(server, Map.of());
        pipeline = target.pipeline();
        target.execute("DROP TABLE IF EXISTS t", "CREATE TABLE t (id int8 PRIMARY KEY, v text, b bytea, n numeric)");
    }

    @AfterEach
    void close() throws SQLException {
        target.close();
    }

    private void insert(PreparedSql insert, long id, String value) throws SQLException {
        pipeline.bind(insert, 2);
        pipeline.parameter(BINARY, int8(id), 0, 8);
        pipeline.parameter(value);
        pipeline.execute(id);
    }

    private static byte[] int8(long value) {
        return ByteBuffer.allocate(8).putLong(value).array();
    }

    private String query(String sql) throws SQLException {
        return target.query(sql);
    }

    @Test
    void valuesOfBothFormatsArriveAsTheyAre() throws SQLException {
        PreparedSql insert = pipeline.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)", 20, 25, 17, 1700);
        pipeline.bind(insert, 4);
        pipeline.parameter(BINARY, int8(1), 0, 8);
        pipeline.parameter("größer 🐘");
        pipeline.parameter(BINARY, new byte[] {9, 0, 1, 2, 9}, 1, 3);
        pipeline.parameter("-12.50");
        pipeline.execute(1);
        pipeline.bind(insert, 4);
        pipeline.parameter("2");
        pipeline.parameter(TEXT, new byte[0], 0, 0);
        pipeline.parameter(BINARY, new byte[0], 0, 0);
        pipeline.nullParameter();
        pipeline.execute(2);
        pipeline.bind(insert, 4);
        pipeline.parameter(BINARY, int8(3), 0, 8);
        pipeline.nullParameter();
        pipeline.nullParameter();
        pipeline.nullParameter();
        pipeline.execute(3);
        pipeline.sync();
        assertEquals(
                "1|größer 🐘|000102|-12.50;2|||NULL;3|NULL|NULL|NULL",
                query("SELECT string_agg(concat_ws('|', id, coalesce(v, 'NULL'), coalesce(encode(b, 'hex'), 'NULL'),"
                        + " coalesce(n::text, 'NULL')), ';' ORDER BY id) FROM t"));
    }

    @Test
    void asManyParametersAsATableHasColumns() throws SQLException {
        target.execute(
                "DROP TABLE IF EXISTS wide",
                IntStream.rangeClosed(1, 1600)
                        .mapToObj(i -> "c" + i + " int4")
                        .collect(Collectors.joining(",", "CREATE TABLE wide (", ")")));
        PreparedSql insert = pipeline.prepare(IntStream.rangeClosed(1, 1600)
                .mapToObj(i -> "$" + i)
                .collect(Collectors.joining(",", "INSERT INTO wide VALUES (", ")")));
        pipeline.bind(insert, 1600);
        for (int i = 1; i <= 1600; i++) {
            if (i % 3 == 0) {
                pipeline.nullParameter();
            } else {
                pipeline.parameter(BINARY, new byte[] {0, 0, (byte) (i >> 8), (byte) i}, 0, 4);
            }
        }
        pipeline.execute(0);
        pipeline.sync();
        assertEquals("1|t|1600", query("SELECT concat_ws('|', c1, c3 IS NULL, c1600) FROM wide"));
    }

    @Test
    void asManyParametersAsTheProtocolCanSay() throws SQLException {
        PreparedSql count = pipeline.prepare(IntStream.rangeClosed(1, BindParameters.MAX_PARAMETERS)
                .mapToObj(i -> "$" + i)
                .collect(Collectors.joining(",", "SELECT cardinality(ARRAY[", "]::int4[])")));
        pipeline.bind(count, BindParameters.MAX_PARAMETERS);
        for (int i = 0; i < BindParameters.MAX_PARAMETERS; i++) {
            pipeline.parameter(TEXT, new byte[] {'7'}, 0, 1);
        }
        int index = pipeline.query(0, TEXT);
        pipeline.sync();
        assertEquals("65535", pipeline.rows(index).text(0, 0));
        assertThrows(IllegalArgumentException.class, () -> pipeline.bind(count, BindParameters.MAX_PARAMETERS + 1));
    }

    @Test
    void aValueOfAHundredMegabytes() throws Exception {
        byte[] value = new byte[100_000_000];
        new Random(1).nextBytes(value);
        target.execute("ALTER TABLE t ALTER b SET STORAGE EXTERNAL");
        pipeline.simple("BEGIN");
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, b) VALUES ($1, $2)");
        pipeline.bind(insert, 2);
        pipeline.parameter("1");
        pipeline.parameter(BINARY, value, 0, value.length);
        pipeline.execute(1);
        pipeline.bind(pipeline.prepare("SELECT b FROM t"), 0);
        int select = pipeline.query(2, BINARY);
        pipeline.simple("COMMIT");
        pipeline.sync();
        byte[] hash = MessageDigest.getInstance("MD5").digest(value);
        assertEquals(HexFormat.of().formatHex(hash), query("SELECT md5(b) FROM t"));
        assertEquals(value.length, pipeline.rows(select).bytes(0, 0).length);
    }

    @Test
    void aViolationIsRolledBackToTheSavepointAndTheTransactionGoesOn() throws SQLException {
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, v) VALUES ($1, $2)", 20, 25);
        pipeline.simple("BEGIN");
        insert(insert, 1, "kept");
        pipeline.simple("SAVEPOINT s");
        for (int i = 2; i < 100; i++) {
            insert(insert, i, "gone");
        }
        insert(insert, 50, "duplicate");
        insert(insert, 200, "skipped");
        PipelineException error = assertThrows(PipelineException.class, pipeline::sync);
        assertEquals("23505", error.getSQLState());
        assertEquals(50, error.tag());
        assertEquals(101, error.index());
        assertEquals("t_pkey", error.getServerErrorMessage().getConstraint());
        assertEquals('E', pipeline.transactionStatus());

        pipeline.simple("ROLLBACK TO SAVEPOINT s");
        insert(insert, 3, "kept");
        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals('I', pipeline.transactionStatus());
        assertEquals("1,3", query("SELECT string_agg(id::text, ',' ORDER BY id) FROM t"));
    }

    @Test
    void aDeferredViolationIsTheCommitsError() throws SQLException {
        target.execute("ALTER TABLE t ADD CONSTRAINT u UNIQUE (v) DEFERRABLE INITIALLY DEFERRED");
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, v) VALUES ($1, $2)", 20, 25);
        pipeline.simple("BEGIN");
        insert(insert, 1, "same");
        insert(insert, 2, "same");
        pipeline.simple("COMMIT");
        assertEquals(3, assertThrows(PipelineException.class, pipeline::sync).index());
        insert(insert, 1, "same");
        insert(insert, 2, "same");
        PipelineException implicit = assertThrows(PipelineException.class, pipeline::sync);
        assertEquals("23505/2", implicit.getSQLState() + "/" + implicit.index());
        assertEquals('I', pipeline.transactionStatus());
        assertEquals("0", query("SELECT count(*) FROM t"));
    }

    private void copyRow(long id, String value) throws SQLException {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        ByteBuffer row = ByteBuffer.allocate(2 + 12 + 4 + text.length);
        row.putShort((short) 2).putInt(8).putLong(id).putInt(text.length).put(text);
        pipeline.copyData(row.array(), 0, row.position());
    }

    private int copy(int from, int to) throws SQLException {
        return copy(from, to, "row ");
    }

    private int copy(int from, int to, String value) throws SQLException {
        pipeline.copyIn("COPY t (id, v) FROM STDIN (FORMAT binary)");
        pipeline.copyData(COPY_HEADER, 0, COPY_HEADER.length);
        for (int i = from; i < to; i++) {
            copyRow(i, value + i);
        }
        pipeline.copyData(COPY_TRAILER, 0, 2);
        return pipeline.copyDone(from);
    }

    @Test
    void copyUpdateAndCommitTakeOneRoundTrip() throws SQLException {
        pipeline.simple("BEGIN");
        int copy = copy(0, 100_000);
        PreparedSql update = pipeline.prepare("UPDATE t SET v = $2 WHERE id = $1", 20, 25);
        insert(update, 17, "updated");
        insert(update, -1, "missing");
        int second = copy(100_000, 100_001);
        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals(100_000, pipeline.affected(copy));
        assertEquals(1, pipeline.affected(copy + 1));
        assertEquals(0, pipeline.affected(copy + 2));
        assertEquals(1, pipeline.affected(second));
        assertEquals("100001|updated", query("SELECT count(*) || '|' || max(v) FILTER (WHERE id = 17) FROM t"));
    }

    @Test
    void aFailedCopySkipsTheRestOfTheRound() throws SQLException {
        for (String sql : List.of("COPY nowhere FROM STDIN", "COPY t (id, v) FROM STDIN")) {
            pipeline.simple("BEGIN");
            pipeline.copyIn(sql);
            for (int i = 0; i < 100; i++) {
                pipeline.copyData("not a number\tx\n".repeat(1000).getBytes(StandardCharsets.UTF_8), 0, 15_000);
            }
            pipeline.copyDone(7);
            pipeline.simple("COMMIT");
            PipelineException error = assertThrows(PipelineException.class, pipeline::sync);
            assertEquals("1/7", error.index() + "/" + error.tag());
            assertEquals('E', pipeline.transactionStatus());
            pipeline.simple("ROLLBACK");
            int copy = copy(0, 10);
            pipeline.sync();
            assertEquals(10, pipeline.affected(copy));
            target.execute("TRUNCATE t");
        }
    }

    @Test
    void resetStopsARoundThatIsUnderWay() throws SQLException {
        pipeline.simple("BEGIN");
        pipeline.copyIn("COPY t (id, v) FROM STDIN");
        byte[] data = "1\tx\n".getBytes(StandardCharsets.UTF_8);
        pipeline.copyData(data, 0, data.length);
        pipeline.copyData("2\ty".repeat(200_000).getBytes(StandardCharsets.UTF_8), 0, 600_000);
        pipeline.reset();
        assertEquals('E', pipeline.transactionStatus());
        pipeline.simple("ROLLBACK");
        pipeline.sync();
        assertEquals("0", query("SELECT count(*) FROM t"));
    }

    private void talkativeTrigger(String level) throws SQLException {
        target.execute(
                "CREATE OR REPLACE FUNCTION talk() RETURNS trigger LANGUAGE plpgsql AS " + "$$ BEGIN RAISE " + level
                        + " '%', repeat('n', 2000); RETURN new; END $$",
                "CREATE TRIGGER talk BEFORE INSERT ON t FOR EACH ROW EXECUTE PROCEDURE talk()",
                "ALTER TABLE t ENABLE ALWAYS TRIGGER talk");
    }

    /// B090
    @Test
    void noticesOfEveryStatementBlockNobody() throws SQLException {
        talkativeTrigger("NOTICE");
        target.execute("SET client_min_messages = notice");
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, v) VALUES ($1, $2)", 20, 25);
        pipeline.simple("BEGIN");
        for (int i = 0; i < 50_000; i++) {
            insert(insert, i, MORE_THAN_SOCKETS_HOLD);
        }
        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals("50000", query("SELECT count(*) FROM t"));
    }

    @Test
    void messagesThatNoSettingSilencesBlockNoCopy() throws SQLException {
        talkativeTrigger("INFO");
        target.execute("SET client_min_messages = error");
        pipeline.simple("BEGIN");
        int copy = copy(0, 50_000, MORE_THAN_SOCKETS_HOLD);
        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals(50_000, pipeline.affected(copy));
    }

    @Test
    void errorsWithLongTextsAreShortInMemory() throws SQLException {
        PreparedSql fail = pipeline.prepare("SELECT repeat('9', $1::int4)::int4");
        for (int i = 0; i < 20; i++) {
            pipeline.bind(fail, 1);
            pipeline.parameter("5000000");
            pipeline.execute(i);
            PipelineException error = assertThrows(PipelineException.class, pipeline::sync);
            assertTrue(String.valueOf(error.getMessage()).length() < 10_000);
        }
        assertEquals("1", query("SELECT 1"));
    }

    @Test
    void driverAndPipelineAlternate() throws SQLException {
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, v) VALUES ($1, $2)", 20, 25);
        for (int i = 0; i < 300; i++) {
            pipeline.simple("BEGIN");
            insert(insert, i, "pipeline");
            pipeline.sync();
            target.execute("UPDATE t SET n = " + i + " WHERE id = " + i);
            assertEquals(String.valueOf(i + 1), query("SELECT count(*) FROM t WHERE n = id"));
            pipeline.simple(i % 10 == 0 ? "SAVEPOINT a" : "SAVEPOINT b");
            pipeline.simple("COMMIT");
            pipeline.sync();
            if (i % 50 == 0) {
                server.set("IntervalStyle", i % 100 == 0 ? "iso_8601" : "postgres");
                server.reload();
            }
        }
        assertEquals("300", server.query("postgres", "SELECT count(*) FROM t").orElseThrow());
    }

    private CompletableFuture<PipelineException> waitForLock() throws SQLException {
        PreparedSql update = pipeline.prepare("UPDATE t SET v = $2 WHERE id = $1", 20, 25);
        CompletableFuture<PipelineException> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                insert(update, 1, "x");
                pipeline.sync();
                throw new AssertionError("the lock was free");
            } catch (PipelineException e) {
                return e;
            } catch (SQLException e) {
                throw new AssertionError(e);
            }
        });
        String condition =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " + target.pid();
        while (!server.query("postgres", condition).orElseThrow().equals("1")) {
            Thread.onSpinWait();
        }
        return waiting;
    }

    @Test
    void aWaitEndsByTerminationOrCloseOrCancel() throws Exception {
        target.execute("INSERT INTO t VALUES (1)");
        try (Connection blocker = server.connect("postgres");
                Statement statement = blocker.createStatement()) {
            blocker.setAutoCommit(false);
            statement.execute("SELECT * FROM t FOR UPDATE");

            CompletableFuture<PipelineException> cancelled = waitForLock();
            target.connection().unwrap(BaseConnection.class).cancelQuery();
            assertEquals("57014", cancelled.get().getSQLState());
            assertEquals('I', pipeline.transactionStatus());

            CompletableFuture<PipelineException> terminated = waitForLock();
            statement.execute("SELECT pg_terminate_backend(" + target.pid() + ")");
            PipelineException error = terminated.get();
            assertEquals("08006", error.getSQLState());
            assertTrue(String.valueOf(error.getMessage()).contains("terminating connection"));

            target = PipelineConnection.open(server, Map.of());
            pipeline = target.pipeline();
            CompletableFuture<PipelineException> closed = waitForLock();
            pipeline.close();
            pipeline.close();
            assertEquals("08006", closed.get().getSQLState());
        }
    }

    @Test
    void aWriteThatNobodyReadsEndsByClose() throws Exception {
        target.execute("INSERT INTO t VALUES (1)");
        try (Connection blocker = server.connect("postgres");
                Statement statement = blocker.createStatement()) {
            blocker.setAutoCommit(false);
            statement.execute("SELECT * FROM t FOR UPDATE");
            CompletableFuture<PipelineException> writing = CompletableFuture.supplyAsync(() -> {
                try {
                    pipeline.simple("DELETE FROM t");
                    pipeline.copyIn("COPY t FROM STDIN");
                    byte[] data = new byte[1 << 20];
                    while (true) {
                        pipeline.copyData(data, 0, data.length);
                    }
                } catch (PipelineException e) {
                    return e;
                } catch (SQLException e) {
                    throw new AssertionError(e);
                }
            });
            String condition =
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = " + target.pid();
            while (!server.query("postgres", condition).orElseThrow().equals("1")) {
                Thread.onSpinWait();
            }
            assertFalse(writing.isDone());
            pipeline.close();
            assertEquals("08006", writing.get().getSQLState());
        }
    }

    @Test
    void aKilledServerIsALostConnection() throws Exception {
        PreparedSql insert = pipeline.prepare("INSERT INTO t (id, v) VALUES ($1, $2)", 20, 25);
        CompletableFuture<Void> killing = CompletableFuture.runAsync(() -> {
            String condition = "SELECT count(*) > 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO t%'";
            while (!server.query("postgres", condition).orElseThrow().startsWith("t")
                    && !server.query("postgres", "SELECT count(*) > 0 FROM t")
                            .orElseThrow()
                            .startsWith("t")) {
                Thread.onSpinWait();
            }
            server.kill();
        });
        PipelineException error = assertThrows(PipelineException.class, () -> {
            for (int i = 0; ; i++) {
                insert(insert, i, "x");
                if (i % 1000 == 0) {
                    pipeline.sync();
                }
            }
        });
        try {
            killing.get();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
        assertEquals("08006", error.getSQLState());
        server.startAgain();
        target = PipelineConnection.open(server, Map.of());
        try (Statement statement = target.connection().createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM t")) {
            assertTrue(rows.next());
            assertEquals(1, rows.getInt(1) % 1000);
        }
    }
}
