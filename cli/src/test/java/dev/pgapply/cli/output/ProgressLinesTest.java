package dev.pgapply.cli.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.EngineEvent.Committed;
import dev.pgapply.apply.EngineEvent.Confirmed;
import dev.pgapply.apply.EngineEvent.ConflictSkipped;
import dev.pgapply.apply.EngineEvent.Connected;
import dev.pgapply.apply.EngineEvent.CopyFinished;
import dev.pgapply.apply.EngineEvent.CopyProgress;
import dev.pgapply.apply.EngineEvent.CopyStarted;
import dev.pgapply.apply.EngineEvent.Retrying;
import dev.pgapply.apply.EngineEvent.SourcePosition;
import dev.pgapply.apply.EngineEvent.StreamingStarted;
import dev.pgapply.apply.EngineEvent.TableCopied;
import dev.pgapply.apply.EngineEvent.TablePlan;
import dev.pgapply.apply.EngineEvent.Warning;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.conflict.ConflictType;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressLinesTest {

    private static final TableName ORDERS = new TableName("public", "orders");
    private static final TableName ITEMS = new TableName("public", "items");

    private final StringWriter written = new StringWriter();
    private Instant now = Instant.parse("2026-01-02T03:04:05Z");
    private ProgressLines lines = progress(false);

    @Test
    void aCopyIsToldTableByTable() {
        lines.onEvent(new Connected(180_006, 170_011));
        startCopy();
        after(Duration.ofSeconds(4));
        lines.onEvent(new CopyProgress(ORDERS, 300_000, 30L << 20));
        lines.tick();
        after(Duration.ofSeconds(2));
        lines.onEvent(new CopyProgress(ORDERS, 600_000, 60L << 20));
        lines.tick();
        lines.onEvent(new TableCopied(ORDERS, 1_200_000, 120L << 20, Duration.ofMillis(6_200)));
        lines.onEvent(new TableCopied(ITEMS, 7, 300, Duration.ofMillis(12)));
        lines.onEvent(new CopyFinished(2));
        assertLines("""
                05.000Z INFO  connected: source PostgreSQL 18.6, target PostgreSQL 17.11
                05.000Z INFO  copy: 2 tables, about 1,200,000 rows, 100 MB, as of 0/1000
                11.000Z INFO  copy: 49 %, 0 of 2 tables, 600,000 rows, 60.0 MB, 10.0 MB/s, 6.0 s left
                11.000Z INFO  copied public.orders: 1,200,000 rows, 120 MB in 6.2 s
                11.000Z INFO  copied public.items: 7 rows, 300 B in 12 ms
                11.000Z INFO  copy finished: 2 tables, 1,200,007 rows, 120 MB in 6.0 s
                """);
    }

    @Test
    void anEstimateThatWasTooLowNeverLooksFinished() {
        startCopy();
        lines.onEvent(new CopyProgress(ORDERS, 5_000_000, 500L << 20));
        after(Duration.ofSeconds(5));
        lines.tick();
        assertTrue(written.toString().contains("copy: 98 %"), written.toString());
    }

    @Test
    void theStreamTellsItsSpeedAndLagEveryFewSeconds() {
        lines.onEvent(new StreamingStarted(new Lsn(0x1000)));
        lines.onEvent(new SourcePosition(new Lsn(0x1000 + (3 << 20))));
        after(Duration.ofSeconds(5));
        lines.onEvent(new Committed(100, 2_500, new Lsn(0x1000 + (1 << 20)), now.minusMillis(1_500)));
        lines.tick();
        after(Duration.ofSeconds(3));
        lines.tick();
        assertLines("""
                05.000Z INFO  streaming from 0/1000
                10.000Z INFO  applied up to 0/101000: 20 transactions/s, 500 rows/s, lag 2.0 MB / 1.5 s
                """);
    }

    @Test
    void lagGrowsWhileTheTargetStandsStill() {
        lines.onEvent(new StreamingStarted(new Lsn(0x1000)));
        lines.onEvent(new SourcePosition(new Lsn(0x2000)));
        after(Duration.ofSeconds(7));
        lines.tick();
        assertTrue(written.toString().contains("0 transactions/s, 0 rows/s, lag 4.0 kB / 7.0 s"), written.toString());
    }

    @Test
    void anIdleStreamIsQuietButForALineAMinute() {
        lines.onEvent(new StreamingStarted(new Lsn(0x1000)));
        for (int second = 0; second < 60; second++) {
            after(Duration.ofSeconds(1));
            lines.onEvent(new SourcePosition(new Lsn(0x1000)));
            lines.tick();
        }
        assertLines("""
                05.000Z INFO  streaming from 0/1000
                05.000Z INFO  applied up to 0/1000, nothing is waiting
                """);
    }

    @Test
    void positionsNeverGoBackwards() {
        lines.onEvent(new StreamingStarted(new Lsn(0x5000)));
        lines.onEvent(new Confirmed(new Lsn(0x6000)));
        lines.onEvent(new StreamingStarted(new Lsn(0x4000)));
        lines.onEvent(new Confirmed(new Lsn(0x5000)));
        after(Duration.ofMinutes(1));
        lines.tick();
        assertTrue(written.toString().contains("applied up to 0/6000, nothing is waiting"), written.toString());
    }

    @Test
    void retriesTellReasonAndDelay() {
        lines.onEvent(new Retrying(
                new SourceLost(ErrorCode.SOURCE_LOST, "db1:5432 closed the connection", "", null),
                Duration.ofSeconds(4)));
        assertLines("05.000Z WARN  SOURCE_LOST: db1:5432 closed the connection; next attempt in 4.0 s\n");
    }

    @Test
    void skippedConflictsAreShownOnceAndCounted() {
        lines.onEvent(new Connected(180_006, 180_006));
        lines.onEvent(new Warning("public.log is not followed"));
        for (int i = 0; i < 1_500; i++) {
            lines.onEvent(new ConflictSkipped(ORDERS, ConflictType.UPDATE_MISSING, new Lsn(0x2000)));
        }
        lines.onEvent(new ConflictSkipped(ORDERS, ConflictType.DELETE_MISSING, new Lsn(0x2000)));
        assertEquals(4, written.toString().lines().count(), written.toString());
        assertTrue(lines.summary().contains("public.orders update_missing   1,500"), lines.summary());
    }

    @Test
    void theSummaryHasCopyStreamAndLag() {
        lines.onEvent(new Connected(180_006, 180_006));
        startCopy();
        after(Duration.ofSeconds(6));
        lines.onEvent(new TableCopied(ORDERS, 1_200_000, 120L << 20, Duration.ofSeconds(6)));
        lines.onEvent(new CopyFinished(1));
        lines.onEvent(new StreamingStarted(new Lsn(0x1000)));
        lines.onEvent(new SourcePosition(new Lsn(0x2000)));
        after(Duration.ofSeconds(3));
        lines.onEvent(new Committed(1_234, 56_789, new Lsn(0x2000), now.minusSeconds(2)));
        lines.onEvent(new Confirmed(new Lsn(0x2000)));
        assertEquals("""
                summary after 9.0 s, confirmed up to 0/2000
                           tables        rows    bytes    time
                  copied        1   1,200,000   120 MB   6.0 s
                            transactions     rows      highest lag    last lag
                  applied          1,234   56,789   4.0 kB / 3.0 s   0 B / 0 s""", lines.summary());
    }

    @Test
    void aRunThatReachedNoServerHasNoSummary() {
        assertEquals("", lines.summary());
    }

    @Test
    void onATerminalOneLineIsRedrawnBelowTheOthers() {
        lines = progress(true);
        lines.onEvent(new Connected(180_006, 180_006));
        startCopy();
        lines.onEvent(new CopyProgress(ORDERS, 600_000, 60L << 20));
        after(Duration.ofSeconds(6));
        lines.tick();
        String bar =
                "copy [###########.............] 49 %, 0 of 2 tables, 600,000 rows, 60.0 MB, 10.0 MB/s, 6.0 s left";
        assertTrue(written.toString().endsWith(bar), written.toString());
        lines.tick();
        assertTrue(written.toString().endsWith(bar + "\r\u001b[K" + bar), written.toString());
        lines.onEvent(new Warning("careful"));
        String line = "2026-01-02T03:04:11.000Z WARN  careful" + System.lineSeparator();
        assertTrue(written.toString().endsWith("\r\u001b[K" + line + bar), written.toString());
        lines.summary();
        assertTrue(written.toString().endsWith("\r\u001b[K"), written.toString());
    }

    @Test
    void withoutATerminalNothingIsRedrawn() {
        startCopy();
        after(Duration.ofSeconds(6));
        lines.tick();
        assertFalse(written.toString().contains("\r\u001b"), written.toString());
    }

    private void startCopy() {
        lines.onEvent(new CopyStarted(
                List.of(new TablePlan(ORDERS, 1_200_000, 100L << 20), new TablePlan(ITEMS, -1, 0)), new Lsn(0x1000)));
    }

    private ProgressLines progress(boolean terminal) {
        Console console = new Console(new PrintWriter(written), () -> now, terminal);
        return new ProgressLines(console, () -> now);
    }

    private void after(Duration duration) {
        now = now.plus(duration);
    }

    /// Compares without the part of the time that is the same in all lines, and by the platform's line ends.
    private void assertLines(String expected) {
        StringBuilder shown = new StringBuilder();
        written.toString()
                .lines()
                .forEach(line -> shown.append(line.substring("2026-01-02T03:04:".length()))
                        .append('\n'));
        assertEquals(expected, shown.toString());
    }
}
