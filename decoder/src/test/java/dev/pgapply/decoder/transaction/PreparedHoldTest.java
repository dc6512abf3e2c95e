package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PreparedHoldTest {

    private static final int XID = 900;
    private static final int TABLE = 16400;
    private static final Lsn HOLD_BEFORE = new Lsn(1_000);
    private static final Instant TIME = Instant.parse("2000-01-01T00:00:00Z");

    @TempDir
    private Path directory;

    private AssemblerRun run;

    @BeforeEach
    void open() {
        run = new AssemblerRun(new SpoolSettings(directory, 100, Long.MAX_VALUE), HOLD_BEFORE);
    }

    @AfterEach
    void close() {
        run.close();
        assertTrue(AssemblerRun.isEmpty(directory));
    }

    @Test
    void transactionPreparedBeforeThePositionComesAsOneThatWasNotWhenItIsCommitted() {
        prepared(XID, 500, "gid", "one");
        assertEquals(List.of(), run.events());
        ordinary(1, 600, "between");
        int before = run.events().size();
        run.receive(WireBytes.commitPrepared(XID, 1_200, "gid"));
        List<TransactionEvent> late = run.events().subList(before, run.events().size());
        assertEquals(
                new TransactionEvent.Begin(XID, new Lsn(1_200), TIME, Optional.empty(), Optional.empty()),
                late.getFirst());
        assertEquals(new TransactionEvent.Commit(new Lsn(1_200), new Lsn(1_201), TIME), late.getLast());
        assertEquals(List.of("between", "one"), run.inserted());
    }

    @Test
    void transactionPreparedAtThePositionOrLaterComesAtItsPrepare() {
        prepared(XID, 1_000, "gid", "one");
        assertEquals(
                new TransactionEvent.Prepare(XID, "gid", new Lsn(1_000), new Lsn(1_001), TIME),
                run.events().getLast());
        assertEquals(Optional.empty(), run.assembler().heldFrom(Lsn.INVALID));
    }

    @Test
    void nothingMayBeConfirmedFromTheFirstKeptPrepareOn() {
        assertEquals(Optional.empty(), run.assembler().heldFrom(Lsn.INVALID));
        run.receive(WireBytes.beginPrepare(XID, 700, ""));
        assertEquals(Optional.of(new Lsn(700)), run.assembler().heldFrom(Lsn.INVALID), "its own begin counts already");
        run.receive(WireBytes.prepare(XID, 700, ""));
        prepared(XID + 1, 500, "", "x");
        assertEquals(Optional.of(new Lsn(500)), run.assembler().heldFrom(Lsn.INVALID));
        run.receive(WireBytes.commitPrepared(XID + 1, 800, ""));
        assertEquals(Optional.of(new Lsn(500)), run.assembler().heldFrom(new Lsn(800)), "committed, and on its way");
        assertEquals(Optional.of(new Lsn(700)), run.assembler().heldFrom(new Lsn(801)));
        run.receive(WireBytes.rollbackPrepared(XID, 701, 900, ""));
        assertEquals(Optional.empty(), run.assembler().heldFrom(Lsn.INVALID));
    }

    @Test
    void rollbackIsHandedOnSinceTheTargetMayHaveItPrepared() {
        prepared(XID, 500, "gid", "one");
        run.receive(WireBytes.rollbackPrepared(XID, 501, 900, "gid"));
        assertEquals(
                List.of(new TransactionEvent.RollbackPrepared(XID, "gid", new Lsn(501), new Lsn(900), TIME, TIME)),
                run.events());
        assertEquals(new SpoolUsage(0, 0, 0), run.assembler().spoolUsage());
    }

    @Test
    void rowsKeepTheDescriptionThatHeldWhenTheyWereSent() {
        run.receive(WireBytes.begin(1, 100))
                .receive(WireBytes.relation(0, TABLE, "old"))
                .receive(WireBytes.commit(100));
        run.receive(WireBytes.beginPrepare(XID, 500, "g"))
                .receive(WireBytes.insert(0, TABLE, "one"))
                .receive(WireBytes.prepare(XID, 500, "g"));
        run.receive(WireBytes.begin(2, 600))
                .receive(WireBytes.relation(0, TABLE, "new"))
                .receive(WireBytes.commit(600));
        run.receive(WireBytes.commitPrepared(XID, 700, "g"));
        assertEquals(
                List.of("old"),
                run.events().stream()
                        .filter(Change.Insert.class::isInstance)
                        .map(event -> ((Change.Insert) event).relation().name().name())
                        .toList());
    }

    @Test
    void descriptionInsideAKeptTransactionHoldsForThoseThatFollow() {
        prepared(XID, 500, "g", "one");
        run.receive(WireBytes.begin(2, 600))
                .receive(WireBytes.insert(0, TABLE, "two"))
                .receive(WireBytes.commit(600));
        assertEquals(List.of("two"), run.inserted());
    }

    @Test
    void originIsKept() {
        run.receive(WireBytes.beginPrepare(XID, 500, "g"))
                .receive(WireBytes.origin("upstream"))
                .receive(WireBytes.prepare(XID, 500, "g"))
                .receive(WireBytes.commitPrepared(XID, 600, "g"));
        assertEquals(
                Optional.of("upstream"), ((TransactionEvent.Begin) run.events().getFirst()).origin());
    }

    @Test
    void streamedTransactionIsKeptAsWell() {
        run.receive(WireBytes.streamStart(XID, true))
                .receive(WireBytes.relation(XID, TABLE, "t"))
                .receive(WireBytes.insert(XID, TABLE, "x".repeat(1_000)))
                .receive(WireBytes.insert(XID + 1, TABLE, "rolled back"))
                .receive(WireBytes.streamStop())
                .receive(WireBytes.streamAbort(XID, XID + 1))
                .receive(WireBytes.streamPrepare(XID, 500, "g"));
        assertEquals(List.of(), run.events());
        assertEquals(Optional.of(new Lsn(500)), run.assembler().heldFrom(Lsn.INVALID));
        run.receive(WireBytes.commitPrepared(XID, 600, "g"));
        assertEquals(List.of("x".repeat(1_000)), run.inserted());
    }

    @Test
    void largeOneGoesToAFile() {
        prepared(XID, 500, "g", "x".repeat(10_000));
        assertEquals(1, AssemblerRun.spoolFiles(directory).size());
        assertTrue(run.assembler().spoolUsage().memoryBytes() < 10_000);
        run.receive(WireBytes.commitPrepared(XID, 600, "g"));
        assertEquals(1, run.inserted().size());
        assertEquals(List.of(), AssemblerRun.spoolFiles(directory));
    }

    @Test
    void endUnderAnotherIdentifierIsAnError() {
        prepared(XID, 500, "one", "x");
        assertThrows(
                UnexpectedMessageException.class, () -> run.receive(WireBytes.commitPrepared(XID, 600, "another")));
    }

    private void prepared(int xid, long lsn, String gid, String value) {
        run.receive(WireBytes.beginPrepare(xid, lsn, gid))
                .receive(WireBytes.relation(0, TABLE, "t"))
                .receive(WireBytes.insert(0, TABLE, value))
                .receive(WireBytes.prepare(xid, lsn, gid));
    }

    private void ordinary(int xid, long lsn, String value) {
        run.receive(WireBytes.begin(xid, lsn))
                .receive(WireBytes.insert(0, TABLE, value))
                .receive(WireBytes.commit(lsn));
    }
}
