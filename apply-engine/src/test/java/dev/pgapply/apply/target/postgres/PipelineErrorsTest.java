package dev.pgapply.apply.target.postgres;

import static dev.pgapply.apply.target.postgres.Pipeline.TEXT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PipelineErrorsTest {

    private final PipelineFixture fixture = new PipelineFixture();

    @Test
    void anErrorNamesItsStatementAndThePipelineGoesOn() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .bound()
                .error("23505", "duplicate key")
                .ready('E')
                .ran("INSERT 0 1")
                .ready('T'));
        PreparedSql insert = pipeline.prepare("insert");
        PipelineFixture.execute(pipeline, insert, 100, "1");
        PipelineFixture.execute(pipeline, insert, 101, "1");
        PipelineFixture.execute(pipeline, insert, 102, "2");
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

        PipelineFixture.execute(pipeline, insert, 103, "2");
        pipeline.sync();
        assertEquals(1, pipeline.affected(0));
        assertEquals(0, fixture.closings());
    }

    @Test
    void whatWasSkippedIsParsedAndClosedAgain() throws SQLException {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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
        PipelineFixture.execute(pipeline, first, 0);
        PipelineFixture.execute(pipeline, second, 1);
        pipeline.close(first);
        assertThrows(PipelineException.class, pipeline::sync);
        assertEquals("PBEPBECS", fixture.sent().types());
        PipelineFixture.execute(pipeline, second, 2);
        pipeline.sync();
        assertEquals("PBEPBECSPBECS", fixture.sent().types());
        pipeline.sync();
        assertEquals("PBEPBECSPBECSS", fixture.sent().types());
        assertThrows(IllegalStateException.class, () -> pipeline.bind(first, 0));
    }

    @Test
    void anErrorAtParseNamesTheFirstExecution() {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
                .parsed()
                .ran("BEGIN")
                .error("42P01", "no such table")
                .ready('E'));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            pipeline.simple("BEGIN");
            PipelineFixture.execute(pipeline, pipeline.prepare("insert into nowhere"), 5);
            pipeline.sync();
        });
        assertEquals(1, error.index());
        assertEquals(5, error.tag());
    }

    @Test
    void anErrorOfTheImplicitCommitBelongsToNoStatement() {
        Pipeline pipeline = fixture.pipeline(new ServerScript()
                .parsed()
                .ran("INSERT 0 1")
                .error("23503", "deferred")
                .ready('I'));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            PipelineFixture.execute(pipeline, pipeline.prepare("insert"), 5);
            pipeline.sync();
        });
        assertEquals(1, error.index());
        assertEquals(Pipeline.NO_TAG, error.tag());
    }

    @Test
    void anErrorAtTheStartOrInsideOfACopyNamesTheCopy() {
        for (ServerScript script : List.of(
                new ServerScript().error("42P01", "no table").ready('I'),
                new ServerScript()
                        .parsed()
                        .bound()
                        .copyIn()
                        .error("22P04", "bad data")
                        .ready('I'))) {
            Pipeline pipeline = fixture.pipeline(script);
            PipelineException error = assertThrows(PipelineException.class, () -> {
                pipeline.copyIn("copy t from stdin");
                pipeline.copyData(new byte[] {1}, 0, 1);
                pipeline.copyDone(77);
                PipelineFixture.execute(pipeline, pipeline.prepare("next"), 78);
                pipeline.sync();
            });
            assertEquals(77, error.tag());
        }
    }

    @Test
    void notificationsAreSkippedWhereverTheyStand() throws SQLException {
        String large = "n".repeat(3_000_000);
        Pipeline pipeline = fixture.pipeline(new ServerScript()
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
        PipelineFixture.execute(pipeline, update, 0);
        pipeline.sync();
        assertEquals(5, pipeline.affected(0));
        PipelineFixture.execute(pipeline, update, 0);
        pipeline.sync();
        assertEquals(6, pipeline.affected(0));
    }

    @Test
    void longErrorTextsAreCut() {
        Pipeline pipeline = fixture.pipeline(
                new ServerScript().error("P0001", "m".repeat(5_000_000)).ready('I'));
        PipelineException error = assertThrows(PipelineException.class, pipeline::sync);
        assertTrue(String.valueOf(error.getMessage()).length() < 10_000);
        assertEquals("place_pkey", error.getServerErrorMessage().getConstraint());
    }

    @Test
    void theServersLastWordsAreReported() {
        Pipeline pipeline = fixture.pipeline(new ServerScript().parsed().fatal("57P01", "terminating connection"));
        PipelineException error = assertThrows(PipelineException.class, () -> {
            PipelineFixture.execute(pipeline, pipeline.prepare("update"), 0);
            pipeline.sync();
        });
        assertTrue(error.connectionLost());
        assertEquals("08006", error.getSQLState());
        assertTrue(String.valueOf(error.getMessage()).contains("terminating connection"));
        SQLException said = assertInstanceOf(SQLException.class, error.getCause());
        assertEquals("57P01", said.getSQLState());
        assertThrows(IllegalStateException.class, pipeline::sync);
        assertThrows(PipelineException.class, pipeline::reset);
        assertTrue(fixture.closings() > 0);
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
            Pipeline pipeline = fixture.pipeline(Arrays.copyOf(replies, length));
            PipelineException error = assertThrows(PipelineException.class, () -> {
                PreparedSql select = pipeline.prepare("select");
                pipeline.bind(select, 0);
                pipeline.query(0, TEXT);
                PipelineFixture.execute(pipeline, select, 1);
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
            Pipeline pipeline = fixture.pipeline(replies);
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
        Pipeline pipeline = fixture.pipeline(script);
        PipelineException error = assertThrows(PipelineException.class, () -> {
            pipeline.bind(pipeline.prepare("select"), 0);
            pipeline.query(0, TEXT);
            pipeline.sync();
        });
        assertTrue(error.connectionLost());
        assertTrue(fixture.closings() > 0);
    }

    @Test
    void afterAnErrorNothingMoreIsSentThanTheEndOfTheRound() throws Exception {
        Pipeline pipeline =
                fixture.pipeline(new ServerScript().error("42P01", "no table").ready('I'));
        pipeline.copyIn("copy");
        byte[] data = new byte[200_000];
        pipeline.copyData(data, 0, data.length);
        while (!pipeline.hasFailed()) {
            pipeline.copyData(data, 0, data.length);
        }
        int before = fixture.sentBytes();
        pipeline.copyData(data, 0, data.length);
        pipeline.copyDone(0);
        assertThrows(PipelineException.class, pipeline::sync);
        assertTrue(fixture.sentBytes() - before <= PipelineOutput.BUFFER_BYTES + 10);
    }
}
