package dev.pgapply.apply.target.postgres;

import static dev.pgapply.apply.target.postgres.Pipeline.BINARY;
import static dev.pgapply.apply.target.postgres.Pipeline.TEXT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PipelineTest {

    private static final int SAFE_BYTES = 64 * 1024;

    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    private final AtomicInteger closings = new AtomicInteger();

    private Pipeline pipeline(ServerScript script) {
        return pipeline(script.stream());
    }

    private Pipeline pipeline(byte[] replies) {
        return pipeline(new ByteArrayInputStream(replies));
    }

    private Pipeline pipeline(InputStream replies) {
        Closeable transport = closings::incrementAndGet;
        return new Pipeline(replies, sent, transport, SAFE_BYTES);
    }

    private ClientMessages sent() {
        return ClientMessages.of(sent.toByteArray());
    }

    private static void execute(Pipeline pipeline, PreparedSql statement, long tag, String... values)
            throws SQLException {
        pipeline.bind(statement, values.length);
        for (String value : values) {
            pipeline.parameter(value);
        }
        pipeline.execute(tag);
    }

    @Test
    void aStatementIsParsedOnceAndExecutedOften() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .ran("INSERT 0 3")
                .ready('I')
                .ran("UPDATE 0")
                .ready('T'));
        PreparedSql insert = pipeline.prepare("insert into t values ($1)", 23);
        execute(pipeline, insert, 10, "1");
        execute(pipeline, insert, 11, "2");
        pipeline.sync();

        assertEquals("PBEBES", sent().types());
        assertEquals(
                "pgapply_1\0insert into t values ($1)\0\0\1\0\0\0\27",
                sent().messages().getFirst().text());
        assertEquals(2, pipeline.executed());
        assertEquals(1, pipeline.affected(0));
        assertEquals(3, pipeline.affected(1));
        assertEquals('I', pipeline.transactionStatus());

        execute(pipeline, insert, 12, "3");
        pipeline.sync();
        assertEquals("PBEBESBES", sent().types());
        assertEquals(0, pipeline.affected(0));
        assertEquals('T', pipeline.transactionStatus());
    }

    @Test
    void nothingIsSentBeforeSync() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript().ready('I'));
        execute(pipeline, pipeline.prepare("select"), 0);
        assertEquals(0, sent.size());
        pipeline.reset();
        pipeline.sync();
        assertEquals("S", sent().types());
        assertEquals(0, pipeline.executed());
    }

    @Test
    void parametersTravelAsTheyAre() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript().parsed().ran("INSERT 0 1").ready('I'));
        byte[] row = {9, 0, 0, 0, 5, 'x', 9};
        pipeline.bind(pipeline.prepare("insert"), 4);
        pipeline.parameter(BINARY, row, 1, 4);
        pipeline.nullParameter();
        pipeline.parameter(TEXT, row, 0, 0);
        pipeline.parameter(TEXT, row, 5, 1);
        pipeline.execute(0);
        pipeline.sync();

        ByteBuffer expected = ByteBuffer.allocate(100);
        expected.put((byte) 0).put("pgapply_1\0".getBytes(StandardCharsets.US_ASCII));
        expected.putShort((short) 4).putShort((short) 1).putShort((short) 0).putShort((short) 0);
        expected.putShort((short) 0);
        expected.putShort((short) 4).putInt(4).put(new byte[] {0, 0, 0, 5}).putInt(-1);
        expected.putInt(0).putInt(1).put((byte) 'x');
        expected.putShort((short) 1).putShort((short) 0);
        assertArrayEquals(
                Arrays.copyOf(expected.array(), expected.position()),
                sent().ofType('B').getFirst().body());
    }

    @Test
    void oneFormatForAllIsSaidOnce() throws SQLException {
        Pipeline pipeline =
                pipeline(new ServerScript().parsed().ran("INSERT 0 1").ready('I'));
        pipeline.bind(pipeline.prepare("insert"), 3);
        pipeline.nullParameter();
        pipeline.parameter(BINARY, new byte[] {7}, 0, 1);
        pipeline.nullParameter();
        pipeline.execute(0);
        pipeline.sync();
        ByteBuffer bind = ByteBuffer.wrap(sent().ofType('B').getFirst().body(), 11, 6);
        assertEquals(1, bind.getShort());
        assertEquals(1, bind.getShort());
        assertEquals(3, bind.getShort());
    }

    @Test
    void anErrorNamesItsStatementAndThePipelineGoesOn() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .bound()
                .error("23505", "duplicate key")
                .ready('E')
                .ran("INSERT 0 1")
                .ready('T'));
        PreparedSql insert = pipeline.prepare("insert");
        execute(pipeline, insert, 100, "1");
        execute(pipeline, insert, 101, "1");
        execute(pipeline, insert, 102, "2");
        PipelineException error = assertThrows(PipelineException.class, pipeline::sync);

        assertEquals("23505", error.getSQLState());
        assertEquals(1, error.index());
        assertEquals(101, error.tag());
        assertFalse(error.connectionLost());
        assertFalse(String.valueOf(error.getMessage()).contains("(7)"), "details hold cell values");
        var server = error.getServerErrorMessage();
        assertEquals("place_pkey", server.getConstraint());
        assertEquals("public.place", server.getSchema() + "." + server.getTable());
        assertEquals('E', pipeline.transactionStatus());
        assertEquals(1, pipeline.affected(0));
        assertThrows(IndexOutOfBoundsException.class, () -> pipeline.affected(1));

        execute(pipeline, insert, 103, "2");
        pipeline.sync();
        assertEquals(1, pipeline.affected(0));
        assertEquals(0, closings.get());
    }

    @Test
    void whatWasSkippedIsParsedAndClosedAgain() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .bound()
                .error("22P02", "bad")
                .ready('I')
                .parsed()
                .ran("SELECT 1")
                .closed()
                .ready('I')
                .ready('I'));
        PreparedSql first = pipeline.prepare("first");
        PreparedSql second = pipeline.prepare("second");
        execute(pipeline, first, 0);
        execute(pipeline, second, 1);
        pipeline.close(first);
        assertThrows(PipelineException.class, pipeline::sync);
        assertEquals("PBEPBECS", sent().types());
        execute(pipeline, second, 2);
        pipeline.sync();
        assertEquals("PBEPBECSPBECS", sent().types());
        pipeline.sync();
        assertEquals("PBEPBECSPBECSS", sent().types());
        assertThrows(IllegalStateException.class, () -> pipeline.bind(first, 0));
    }

    @Test
    void anErrorAtParseNamesTheFirstExecution() {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("BEGIN")
                .error("42P01", "no such table")
                .ready('E'));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            pipeline.simple("BEGIN");
            execute(pipeline, pipeline.prepare("insert into nowhere"), 5);
            pipeline.sync();
        });
        assertEquals(1, error.index());
        assertEquals(5, error.tag());
    }

    @Test
    void anErrorOfTheImplicitCommitBelongsToNoStatement() {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .error("23503", "deferred")
                .ready('I'));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            execute(pipeline, pipeline.prepare("insert"), 5);
            pipeline.sync();
        });
        assertEquals(1, error.index());
        assertEquals(Pipeline.NO_TAG, error.tag());
    }

    @Test
    void copyStandsAmongStatements() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("BEGIN")
                .parsed()
                .bound()
                .copyIn()
                .done("COPY 17")
                .parsed()
                .ran("COMMIT")
                .ready('I'));
        pipeline.simple("BEGIN");
        pipeline.copyIn("copy t from stdin");
        pipeline.copyData(new byte[] {1, 2, 3}, 1, 2);
        pipeline.copyData(new byte[] {4}, 0, 1);
        int copy = pipeline.copyDone(9);
        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals("PBEPBEdcPBES", sent().types());
        assertArrayEquals(new byte[] {2, 3, 4}, sent().ofType('d').getFirst().body());
        assertEquals(17, pipeline.affected(copy));
    }

    @Test
    void anErrorAtTheStartOrInsideOfACopyNamesTheCopy() {
        for (ServerScript script : List.of(
                new ServerScript().error("42P01", "no table").ready('I'),
                new ServerScript().parsed().bound().copyIn().error("22P04", "bad data").ready('I'))) {
            Pipeline pipeline = pipeline(script);
            PipelineException error = assertThrows(PipelineException.class, () -> {
                pipeline.copyIn("copy t from stdin");
                pipeline.copyData(new byte[] {1}, 0, 1);
                pipeline.copyDone(77);
                execute(pipeline, pipeline.prepare("next"), 78);
                pipeline.sync();
            });
            assertEquals(77, error.tag());
        }
    }

    @Test
    void notificationsAreSkippedWhereverTheyStand() throws SQLException {
        String large = "n".repeat(3_000_000);
        Pipeline pipeline = pipeline(new ServerScript()
                .notice(large)
                .parsed()
                .parameterStatus()
                .bound()
                .notice("x")
                .done("UPDATE 5")
                .notification()
                .readyAtOnceWith('I', new ServerScript().parameterStatus().notice(large))
                .ran("UPDATE 6")
                .ready('I'));
        PreparedSql update = pipeline.prepare("update");
        execute(pipeline, update, 0);
        pipeline.sync();
        assertEquals(5, pipeline.affected(0));
        execute(pipeline, update, 0);
        pipeline.sync();
        assertEquals(6, pipeline.affected(0));
    }

    @Test
    void longErrorTextsAreCut() {
        Pipeline pipeline =
                pipeline(new ServerScript().error("P0001", "m".repeat(5_000_000)).ready('I'));
        PipelineException error = assertThrows(PipelineException.class, pipeline::sync);
        assertTrue(String.valueOf(error.getMessage()).length() < 10_000);
        assertEquals("place_pkey", error.getServerErrorMessage().getConstraint());
    }

    @Test
    void rowsAreKeptOnlyForQueries() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .bound()
                .row("dropped")
                .done("SELECT 1")
                .bound()
                .row("a", null)
                .row("", "x".repeat(100_000))
                .done("SELECT 2")
                .ready('I'));
        PreparedSql select = pipeline.prepare("select");
        execute(pipeline, select, 0);
        pipeline.bind(select, 0);
        int query = pipeline.query(1, TEXT);
        pipeline.sync();
        QueryRows rows = pipeline.rows(query);
        assertEquals(2, rows.size());
        assertEquals("a", rows.text(0, 0));
        assertTrue(rows.isNull(0, 1));
        assertEquals("", rows.text(1, 0));
        assertEquals(100_000, rows.bytes(1, 1).length);
        assertThrows(IllegalStateException.class, () -> pipeline.rows(0));
    }

    @Test
    void tooManyRowsAreRefusedNotKept() throws SQLException {
        ServerScript script = new ServerScript().parsed().bound();
        for (int i = 0; i <= QueryRows.MAX_ROWS; i++) {
            script.row("1");
        }
        Pipeline pipeline = pipeline(script.done("SELECT 10001").ready('I'));
        pipeline.bind(pipeline.prepare("select"), 0);
        pipeline.query(1, TEXT);
        pipeline.sync();
        assertThrows(IllegalStateException.class, () -> pipeline.rows(0));
    }

    @Test
    void theServersLastWordsAreReported() {
        Pipeline pipeline = pipeline(new ServerScript().parsed().fatal("57P01", "terminating connection"));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            execute(pipeline, pipeline.prepare("update"), 0);
            pipeline.sync();
        });
        assertTrue(error.connectionLost());
        assertEquals("08006", error.getSQLState());
        assertTrue(String.valueOf(error.getMessage()).contains("terminating connection"));
        SQLException said = assertInstanceOf(SQLException.class, error.getCause());
        assertEquals("57P01", said.getSQLState());
        assertThrows(IllegalStateException.class, pipeline::sync);
        assertThrows(PipelineException.class, pipeline::reset);
        assertTrue(closings.get() > 0);
    }

    @Test
    void everyProperPrefixOfTheRepliesIsALostConnection() {
        byte[] replies = new ServerScript()
                .parsed()
                .notice("n")
                .bound()
                .row("1")
                .done("SELECT 1")
                .bound()
                .error("22P02", "bad")
                .ready('I')
                .bytes();
        for (int length = 0; length < replies.length; length++) {
            Pipeline pipeline = pipeline(Arrays.copyOf(replies, length));
            PipelineException error = assertThrows(PipelineException.class, () -> {
                PreparedSql select = pipeline.prepare("select");
                pipeline.bind(select, 0);
                pipeline.query(0, TEXT);
                execute(pipeline, select, 1);
                pipeline.sync();
            });
            assertEquals("08006", error.getSQLState(), "prefix of " + length);
        }
    }

    @Test
    void randomRepliesNeverHangNorExhaustMemory() {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        String types = "123CDEGINAZSns";
        for (int run = 0; run < 20_000; run++) {
            byte[] replies = new byte[random.nextInt(60)];
            random.nextBytes(replies);
            for (int i = 0; i + 5 < replies.length; i += 5 + replies[i + 4]) {
                replies[i] = (byte) types.charAt(random.nextInt(types.length()));
                replies[i + 1] = (byte) (random.nextInt(50) == 0 ? 0x3f : 0);
                replies[i + 2] = 0;
                replies[i + 3] = 0;
                replies[i + 4] = (byte) (4 + random.nextInt(12));
            }
            Pipeline pipeline = pipeline(replies);
            try {
                pipeline.bind(pipeline.prepare("select"), 0);
                pipeline.query(0, TEXT);
                pipeline.sync();
            } catch (SQLException e) {
                assertTrue(e instanceof PipelineException, "seed " + seed);
            }
        }
    }

    static List<ServerScript> brokenReplies() {
        byte[] none = new byte[0];
        return List.of(
                new ServerScript().raw('x', 4, none),
                new ServerScript().raw('T', 4, none),
                new ServerScript().raw('1', 3, none),
                new ServerScript().raw('2', 5, new byte[1]),
                new ServerScript().raw('C', 2000, new byte[1996]),
                new ServerScript().raw('N', -1, none),
                new ServerScript().raw('E', 0x7fff_ffff, none),
                new ServerScript().raw('Z', 4, none),
                new ServerScript().raw('D', 4 + 2, new byte[] {0, 1}),
                new ServerScript().raw('D', 4 + 6, new byte[] {0, 1, 0, 0, 0, 1}),
                new ServerScript().raw('D', 4 + 7, new byte[] {0, 1, 0, 0, 0, 0, 0}),
                new ServerScript().done("SELECT 1").done("SELECT 1").ready('I'),
                new ServerScript().ready('I'));
    }

    @ParameterizedTest
    @MethodSource("brokenReplies")
    void whatIsNotTheProtocolEndsTheConnection(ServerScript script) {
        Pipeline pipeline = pipeline(script);
        PipelineException error = assertThrows(PipelineException.class, () -> {
            pipeline.bind(pipeline.prepare("select"), 0);
            pipeline.query(0, TEXT);
            pipeline.sync();
        });
        assertTrue(error.connectionLost());
        assertTrue(closings.get() > 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 131_071, 131_072, 131_073, 400_000, 5_000_000})
    void largeValuesAndCopyDataArriveWhole(int size) throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .parsed()
                .bound()
                .copyIn()
                .done("COPY 1")
                .ready('I'));
        byte[] large = new byte[size];
        new Random(size).nextBytes(large);
        pipeline.bind(pipeline.prepare("insert"), 3);
        pipeline.parameter("before");
        pipeline.parameter(BINARY, large, 0, size);
        pipeline.parameter("after");
        pipeline.execute(0);
        pipeline.copyIn("copy");
        for (int from = 0; from < size; from += 70_001) {
            pipeline.copyData(large, from, Math.min(70_001, size - from));
        }
        pipeline.copyDone(1);
        pipeline.sync();

        byte[] bind = sent().ofType('B').getFirst().body();
        int at = 1 + 10 + 2 + 3 * 2 + 2 + 4 + 6 + 4;
        assertArrayEquals(large, Arrays.copyOfRange(bind, at, at + size));
        ByteArrayOutputStream copied = new ByteArrayOutputStream();
        sent().ofType('d').forEach(message -> copied.writeBytes(message.body()));
        assertArrayEquals(large, copied.toByteArray());
        assertTrue(sent().ofType('d').stream().allMatch(m -> m.body().length <= PipelineOutput.BUFFER_BYTES));
    }

    @Test
    void resetCutsBehindTheLastMessageThatHasBegun() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .ran("BEGIN")
                .parsed()
                .ran("INSERT 0 1")
                .ready('T')
                .parsed()
                .ran("COMMIT")
                .ready('I'));
        byte[] large = new byte[300_000];
        pipeline.simple("BEGIN");
        pipeline.bind(pipeline.prepare("insert"), 2);
        pipeline.parameter(BINARY, large, 0, large.length);
        pipeline.parameter("the rest of a message that is on its way");
        pipeline.execute(0);
        pipeline.simple("COMMIT");
        pipeline.reset();
        assertEquals("PBEPBS", sent().types());
        assertEquals('T', pipeline.transactionStatus());

        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals("PBEPBSPBES", sent().types());
    }

    @Test
    void resetInsideACopyFailsIt() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript()
                .parsed()
                .bound()
                .copyIn()
                .error("57014", "COPY from stdin failed")
                .ready('I')
                .ready('I'));
        pipeline.copyIn("copy");
        pipeline.copyData(new byte[200_000], 0, 200_000);
        pipeline.reset();
        assertEquals("PBEdfS", sent().types());
        pipeline.sync();
    }

    @Test
    void afterAnErrorNothingMoreIsSentThanTheEndOfTheRound() throws Exception {
        Pipeline pipeline = pipeline(new ServerScript().error("42P01", "no table").ready('I'));
        pipeline.copyIn("copy");
        byte[] data = new byte[200_000];
        pipeline.copyData(data, 0, data.length);
        while (!pipeline.hasFailed()) {
            pipeline.copyData(data, 0, data.length);
        }
        int before = sent.size();
        pipeline.copyData(data, 0, data.length);
        pipeline.copyDone(0);
        assertThrows(PipelineException.class, pipeline::sync);
        assertTrue(sent.size() - before <= PipelineOutput.BUFFER_BYTES + 10);
    }

    @Test
    void statementsKnownByTextAreFew() throws SQLException {
        ServerScript script = new ServerScript();
        int statements = Pipeline.MAX_SIMPLE_STATEMENTS + 3;
        for (int i = 0; i < statements; i++) {
            script.parsed().ran("SELECT 1");
        }
        script.closed().closed().closed().ready('I');
        Pipeline pipeline = pipeline(script);
        for (int i = 0; i < statements; i++) {
            pipeline.simple("select " + i);
        }
        pipeline.sync();
        assertEquals(3, sent().ofType('C').size());
    }

    @Test
    void wrongUseIsRefusedBeforeAnythingIsQueued() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript().ready('I'));
        PreparedSql statement = pipeline.prepare("select");
        assertThrows(IllegalArgumentException.class, () -> pipeline.bind(statement, 65_536));
        assertThrows(IllegalStateException.class, () -> pipeline.execute(0));
        assertThrows(IllegalStateException.class, () -> pipeline.parameter("x"));
        assertThrows(IllegalStateException.class, () -> pipeline.copyData(new byte[1], 0, 1));
        assertThrows(IllegalStateException.class, () -> pipeline.copyDone(0));
        PreparedSql foreign = pipeline(new ServerScript()).prepare("select");
        assertThrows(IllegalStateException.class, () -> pipeline.bind(foreign, 0));
        pipeline.bind(statement, 1);
        assertThrows(IllegalStateException.class, () -> pipeline.execute(0));
        assertThrows(IllegalStateException.class, pipeline::sync);
        assertThrows(IndexOutOfBoundsException.class, () -> pipeline.parameter(TEXT, new byte[3], 2, 2));
        pipeline.reset();
        pipeline.sync();
        assertEquals("S", sent().types());
        assertThrows(IndexOutOfBoundsException.class, () -> pipeline.affected(0));
    }

    @Test
    void aMessageOfMoreThanAGigabyteIsRefusedAndThePipelineGoesOn() throws SQLException {
        Pipeline pipeline = pipeline(new ServerScript().ready('I'));
        byte[] value = new byte[1 << 20];
        pipeline.bind(pipeline.prepare("insert"), 1024);
        for (int i = 0; i < 1024; i++) {
            pipeline.parameter(BINARY, value, 0, value.length);
        }
        SQLException error = assertThrows(SQLException.class, () -> pipeline.execute(0));
        assertEquals("54000", error.getSQLState());
        pipeline.sync();
        assertEquals(0, pipeline.executed());
    }
}
