package dev.pgapply.apply.target.postgres;

import static dev.pgapply.apply.target.postgres.Pipeline.BINARY;
import static dev.pgapply.apply.target.postgres.Pipeline.TEXT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PipelineTest {

    private final PipelineFixture fixture = new PipelineFixture();

    @Test
    void aStatementIsParsedOnceAndExecutedOften() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .ran("INSERT 0 3")
                .ready('I')
                .ran("UPDATE 0")
                .ready('T'));
        PreparedSql insert = pipeline.prepare("insert into t values ($1)", 23);
        PipelineFixture.execute(pipeline, insert, 10, "1");
        PipelineFixture.execute(pipeline, insert, 11, "2");
        pipeline.sync();

        assertEquals("PBEBES", fixture.sent().types());
        assertEquals(
                "pgapply_1\0insert into t values ($1)\0\0\1\0\0\0\27",
                fixture.sent().messages().getFirst().text());
        assertEquals(2, pipeline.executed());
        assertEquals(1, pipeline.affected(0));
        assertEquals(3, pipeline.affected(1));
        assertEquals('I', pipeline.transactionStatus());

        PipelineFixture.execute(pipeline, insert, 12, "3");
        pipeline.sync();
        assertEquals("PBEBESBES", fixture.sent().types());
        assertEquals(0, pipeline.affected(0));
        assertEquals('T', pipeline.transactionStatus());
    }

    @Test
    void nothingIsSentBeforeSync() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript().ready('I'));
        PipelineFixture.execute(pipeline, pipeline.prepare("select"), 0);
        assertEquals(0, fixture.sentBytes());
        pipeline.reset();
        pipeline.sync();
        assertEquals("S", fixture.sent().types());
        assertEquals(0, pipeline.executed());
    }

    @Test
    void aNullIsNoValueOfAStatementThatWasGivenUp() throws SQLException {
        Pipeline pipeline =
                fixture.pipeline(new ServerScript().parsed().ran("INSERT 0 1").ready('I'));
        PreparedSql insert = pipeline.prepare("insert");
        pipeline.bind(insert, 1);
        pipeline.parameter("given up");
        pipeline.reset();
        pipeline.bind(insert, 1);
        pipeline.nullParameter();
        pipeline.execute(0);
        pipeline.sync();

        assertEquals("PBES", fixture.sent().types());
        assertEquals(
                "\0pgapply_1\0\0\1\0\0\0\1\377\377\377\377\0\1\0\0",
                fixture.sent().messages().get(1).text());
    }

    @Test
    void parametersTravelAsTheyAre() throws SQLException {
        Pipeline pipeline =
                fixture.pipeline(new ServerScript().parsed().ran("INSERT 0 1").ready('I'));
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
                fixture.sent().ofType('B').getFirst().body());
    }

    @Test
    void oneFormatForAllIsSaidOnce() throws SQLException {
        Pipeline pipeline =
                fixture.pipeline(new ServerScript().parsed().ran("INSERT 0 1").ready('I'));
        pipeline.bind(pipeline.prepare("insert"), 3);
        pipeline.nullParameter();
        pipeline.parameter(BINARY, new byte[] {7}, 0, 1);
        pipeline.nullParameter();
        pipeline.execute(0);
        pipeline.sync();
        ByteBuffer bind = ByteBuffer.wrap(fixture.sent().ofType('B').getFirst().body(), 11, 6);
        assertEquals(1, bind.getShort());
        assertEquals(1, bind.getShort());
        assertEquals(3, bind.getShort());
    }

    @Test
    void copyStandsAmongStatements() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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
        assertEquals("PBEPBEdcPBES", fixture.sent().types());
        assertArrayEquals(
                new byte[] {2, 3, 4}, fixture.sent().ofType('d').getFirst().body());
        assertEquals(17, pipeline.affected(copy));
    }

    @Test
    void rowsAreKeptOnlyForQueries() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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
        PipelineFixture.execute(pipeline, select, 0);
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
        Pipeline pipeline = fixture.pipeline(script.done("SELECT 10001").ready('I'));
        pipeline.bind(pipeline.prepare("select"), 0);
        pipeline.query(1, TEXT);
        pipeline.sync();
        assertThrows(IllegalStateException.class, () -> pipeline.rows(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 131_071, 131_072, 131_073, 400_000, 5_000_000})
    void largeValuesAndCopyDataArriveWhole(int size) throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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

        byte[] bind = fixture.sent().ofType('B').getFirst().body();
        int at = 1 + 10 + 2 + 3 * 2 + 2 + 4 + 6 + 4;
        assertArrayEquals(large, Arrays.copyOfRange(bind, at, at + size));
        ByteArrayOutputStream copied = new ByteArrayOutputStream();
        fixture.sent().ofType('d').forEach(message -> copied.writeBytes(message.body()));
        assertArrayEquals(large, copied.toByteArray());
        assertTrue(fixture.sent().ofType('d').stream().allMatch(m -> m.body().length <= PipelineOutput.BUFFER_BYTES));
    }

    @Test
    void resetCutsBehindTheLastMessageThatHasBegun() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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
        assertEquals("PBEPBS", fixture.sent().types());
        assertEquals('T', pipeline.transactionStatus());

        pipeline.simple("COMMIT");
        pipeline.sync();
        assertEquals("PBEPBSPBES", fixture.sent().types());
    }

    @Test
    void resetInsideACopyFailsIt() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
                .parsed()
                .bound()
                .copyIn()
                .error("57014", "COPY from stdin failed")
                .ready('I')
                .ready('I'));
        pipeline.copyIn("copy");
        pipeline.copyData(new byte[200_000], 0, 200_000);
        pipeline.reset();
        assertEquals("PBEdfS", fixture.sent().types());
        pipeline.sync();
    }

    @Test
    void statementsKnownByTextAreFew() throws SQLException {
        ServerScript script = new ServerScript();
        int statements = Pipeline.MAX_SIMPLE_STATEMENTS + 3;
        for (int i = 0; i < statements; i++) {
            script.parsed().ran("SELECT 1");
        }
        script.closed().closed().closed().ready('I');
        Pipeline pipeline = fixture.pipeline(script);
        for (int i = 0; i < statements; i++) {
            pipeline.simple("select " + i);
        }
        pipeline.sync();
        assertEquals(3, fixture.sent().ofType('C').size());
    }

    @Test
    void wrongUseIsRefusedBeforeAnythingIsQueued() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript().ready('I'));
        PreparedSql statement = pipeline.prepare("select");
        assertThrows(IllegalArgumentException.class, () -> pipeline.bind(statement, 65_536));
        assertThrows(IllegalStateException.class, () -> pipeline.execute(0));
        assertThrows(IllegalStateException.class, () -> pipeline.parameter("x"));
        assertThrows(IllegalStateException.class, () -> pipeline.copyData(new byte[1], 0, 1));
        assertThrows(IllegalStateException.class, () -> pipeline.copyDone(0));
        PreparedSql foreign = fixture.pipeline(new ServerScript()).prepare("select");
        assertThrows(IllegalStateException.class, () -> pipeline.bind(foreign, 0));
        pipeline.bind(statement, 1);
        assertThrows(IllegalStateException.class, () -> pipeline.execute(0));
        assertThrows(IllegalStateException.class, pipeline::sync);
        assertThrows(IndexOutOfBoundsException.class, () -> pipeline.parameter(TEXT, new byte[3], 2, 2));
        pipeline.reset();
        pipeline.sync();
        assertEquals("S", fixture.sent().types());
        assertThrows(IndexOutOfBoundsException.class, () -> pipeline.affected(0));
    }

    @Test
    void aMessageOfMoreThanAGigabyteIsRefusedAndThePipelineGoesOn() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript().ready('I'));
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
