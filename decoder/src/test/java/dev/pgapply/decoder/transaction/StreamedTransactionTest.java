package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.PgOutputMessage;
import dev.pgapply.decoder.Vectors;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Transactions that come in blocks while they are open.
class StreamedTransactionTest {

    private static final int XID = 500;
    private static final int SUBXID = 501;
    private static final int INNER_SUBXID = 502;
    private static final int TABLE = 16384;

    @TempDir
    Path directory;

    static Stream<Vectors.Capture> streamedCaptures() {
        return Vectors.all()
                .filter(capture -> capture.scenario().contains("stream"))
                .filter(capture -> List.of("on", "on-4", "parallel").contains(capture.options()));
    }

    /// The server was asked for the same changes twice: in blocks, and whole after the commit.
    @ParameterizedTest
    @MethodSource("streamedCaptures")
    void streamedAndWholeTransactionsCannotBeToldApart(Vectors.Capture streamed) {
        Vectors.Capture whole = Vectors.get(streamed.scenario() + "/" + streamed.major() + "-whole");
        try (AssemblerRun expected = AssemblerRun.inMemory(directory).receive(whole);
                AssemblerRun inMemory = AssemblerRun.inMemory(directory).receive(streamed);
                AssemblerRun inFiles = AssemblerRun.inFiles(directory).receive(streamed)) {
            assertEquals(withoutMessages(expected), withoutMessages(inMemory));
            assertEquals(withoutMessages(expected), withoutMessages(inFiles));
            assertEquals(new SpoolUsage(0, 0, 0), inMemory.assembler().spoolUsage());
            assertEquals(new SpoolUsage(0, 0, 0), inFiles.assembler().spoolUsage());
        }
        assertTrue(AssemblerRun.isEmpty(directory));
    }

    /// A logical message does not name its subtransaction, so it may be there or not after a rollback.
    private static List<TransactionEvent> withoutMessages(AssemblerRun run) {
        return run.events().stream()
                .filter(event -> !(event instanceof TransactionEvent.Message))
                .toList();
    }

    @Test
    void abortOfWhatWasNeverStreamedIsIgnoredAndCounted() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory).receive(Vectors.get("stream_rollback/18-on"))) {
            assertEquals(1, run.assembler().ignoredAborts());
        }
        try (TransactionAssembler withoutStreaming = new TransactionAssembler()) {
            Vectors.Capture capture = Vectors.get("stream_rollback/18-on");
            PgOutputDecoder decoder = new PgOutputDecoder();
            capture.messages()
                    .forEach(message ->
                            withoutStreaming.accept(message.decode(decoder), new byte[0], 0, 0, event -> {}));
            assertEquals(1, withoutStreaming.ignoredAborts());
        }
    }

    @Test
    void nothingComesOutBeforeTheCommit() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            run.receive(WireBytes.streamStart(XID, true))
                    .receive(WireBytes.relation(XID, TABLE, "t"))
                    .receive(WireBytes.insert(XID, TABLE, "a"))
                    .receive(WireBytes.streamStop());
            assertEquals(List.of(), run.events());
            run.receive(WireBytes.streamCommit(XID, 100));
            assertEquals(3, run.events().size());
            assertEquals(
                    new TransactionEvent.Begin(
                            XID,
                            new Lsn(100),
                            Instant.parse("2000-01-01T00:00:00Z"),
                            Optional.empty(),
                            Optional.empty()),
                    run.events().getFirst());
        }
    }

    @Test
    void streamedPrepareEndsInPrepare() {
        try (AssemblerRun run = AssemblerRun.inFiles(directory)) {
            block(run, true, WireBytes.relation(XID, TABLE, "t"), WireBytes.insert(XID, TABLE, "a"));
            run.receive(WireBytes.streamPrepare(XID, 100, "")).receive(WireBytes.commitPrepared(XID, 200, ""));
            assertTrue(run.events().get(0) instanceof TransactionEvent.Begin begin && begin.prepared());
            assertTrue(run.events().get(2) instanceof TransactionEvent.Prepare);
            assertTrue(run.events().get(3) instanceof TransactionEvent.CommitPrepared);
        }
    }

    static Stream<Arguments> abortOrders() {
        return Stream.of(
                Arguments.of("inner, outer", List.of(INNER_SUBXID, SUBXID), List.of("top")),
                Arguments.of("outer, inner", List.of(SUBXID, INNER_SUBXID), List.of("top")),
                Arguments.of("inner alone", List.of(INNER_SUBXID), List.of("top", "outer")),
                Arguments.of("inner twice", List.of(INNER_SUBXID, INNER_SUBXID), List.of("top", "outer")),
                Arguments.of("unknown", List.of(777), List.of("top", "outer", "inner", "outer again")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("abortOrders")
    void abortsOfNestedSavepointsMayComeInAnyOrder(String what, List<Integer> aborted, List<String> kept) {
        for (long memoryBytes : new long[] {0, 4096, Long.MAX_VALUE}) {
            try (AssemblerRun run = new AssemblerRun(new SpoolSettings(directory, memoryBytes, Long.MAX_VALUE))) {
                block(run, true, WireBytes.relation(XID, TABLE, "t"), WireBytes.insert(XID, TABLE, "top"));
                block(
                        run,
                        false,
                        WireBytes.insert(SUBXID, TABLE, "outer"),
                        WireBytes.insert(INNER_SUBXID, TABLE, "inner"),
                        WireBytes.insert(SUBXID, TABLE, "outer again"));
                aborted.forEach(subxid -> run.receive(WireBytes.streamAbort(XID, subxid)));
                run.receive(WireBytes.streamCommit(XID, 100));
                assertEquals(kept, run.inserted(), what);
            }
        }
    }

    @Test
    void descriptionInAStreamIsOfItsTransactionAloneUntilTheCommit() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            run.receive(WireBytes.relation(0, TABLE, "old"));
            block(run, true, WireBytes.relation(XID, TABLE, "new"), WireBytes.insert(XID, TABLE, "streamed"));
            ordinary(run, 50, WireBytes.insert(0, TABLE, "ordinary"));
            run.receive(WireBytes.streamCommit(XID, 100));
            ordinary(run, 150, WireBytes.insert(0, TABLE, "after"));
            assertEquals(List.of("old ordinary", "new streamed", "new after"), namesAndValues(run));
        }
    }

    /// What this module relies on when an abort removes descriptions from the spool.
    @ParameterizedTest
    @MethodSource("streamedCaptures")
    void sourceDescribesRelationsAnewAfterEachAbort(Vectors.Capture capture) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        Map<Integer, Set<Integer>> describedByXid = new HashMap<>();
        int top = 0;
        for (Vectors.Message received : capture.messages()) {
            switch (received.decode(decoder)) {
                case PgOutputMessage.StreamStart start -> top = start.xid();
                case PgOutputMessage.StreamAbort abort -> describedByXid.remove(abort.xid());
                case PgOutputMessage.Streamed streamed -> {
                    Set<Integer> described = describedByXid.computeIfAbsent(top, xid -> new HashSet<>());
                    if (streamed.message() instanceof PgOutputMessage.RelationMessage description) {
                        described.add(description.relation().oid());
                    } else if (streamed.message() instanceof PgOutputMessage.Insert insert) {
                        assertTrue(described.contains(insert.relationOid()), received.expected());
                    }
                }
                default -> {}
            }
        }
    }

    @Test
    void descriptionThatWasRolledBackDoesNotMakeAnOlderOneNewer() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            block(run, true, WireBytes.relation(XID, TABLE, "first"), WireBytes.insert(XID, TABLE, "streamed"));
            run.receive(WireBytes.relation(0, TABLE, "second"));
            block(run, false, WireBytes.relation(SUBXID, TABLE, "second"), WireBytes.insert(SUBXID, TABLE, "gone"));
            run.receive(WireBytes.streamAbort(XID, SUBXID)).receive(WireBytes.streamCommit(XID, 100));
            ordinary(run, 150, WireBytes.insert(0, TABLE, "after"));
            assertEquals(List.of("first streamed", "second after"), namesAndValues(run));
        }
    }

    @Test
    void descriptionOfARolledBackStreamIsForgotten() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            run.receive(WireBytes.relation(0, TABLE, "old"));
            block(run, true, WireBytes.relation(XID, TABLE, "new"), WireBytes.insert(XID, TABLE, "streamed"));
            run.receive(WireBytes.streamAbort(XID, XID));
            ordinary(run, 50, WireBytes.insert(0, TABLE, "ordinary"));
            assertEquals(List.of("old ordinary"), namesAndValues(run));
        }
    }

    /// The publication may change without a lock on the table, so a description can be outdated when its
    /// transaction commits.
    @Test
    void descriptionThatArrivedLastHoldsAfterTheCommit() {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            block(run, true, WireBytes.relation(XID, TABLE, "first"), WireBytes.insert(XID, TABLE, "streamed"));
            run.receive(WireBytes.relation(0, TABLE, "second"));
            ordinary(run, 50, WireBytes.insert(0, TABLE, "ordinary"));
            run.receive(WireBytes.streamCommit(XID, 100));
            ordinary(run, 150, WireBytes.insert(0, TABLE, "after"));
            assertEquals(List.of("second ordinary", "first streamed", "second after"), namesAndValues(run));
        }
    }

    @Test
    void ordinaryTransactionMayComeBetweenBlocks() {
        try (AssemblerRun run = AssemblerRun.inFiles(directory)) {
            run.receive(WireBytes.relation(0, TABLE, "t"));
            block(run, true, WireBytes.relation(XID, TABLE, "t"), WireBytes.insert(XID, TABLE, "1"));
            ordinary(run, 50, WireBytes.insert(0, TABLE, "2"));
            block(run, false, WireBytes.insert(XID, TABLE, "3"));
            run.receive(WireBytes.streamCommit(XID, 100));
            assertEquals(List.of("2", "1", "3"), run.inserted());
        }
    }

    static Stream<Arguments> illegalOrders() {
        byte[] start = WireBytes.streamStart(XID, true);
        byte[] stop = WireBytes.streamStop();
        return Stream.of(
                Arguments.of("commit of an unknown stream", List.of(WireBytes.streamCommit(XID, 1))),
                Arguments.of("prepare of an unknown stream", List.of(WireBytes.streamPrepare(XID, 1, "g"))),
                Arguments.of("further block of an unknown stream", List.of(WireBytes.streamStart(XID, false))),
                Arguments.of("first block again", List.of(start, stop, start)),
                Arguments.of("commit inside a block", List.of(start, WireBytes.streamCommit(XID, 1))),
                Arguments.of("abort inside a block", List.of(start, WireBytes.streamAbort(XID, XID))),
                Arguments.of("begin inside a block", List.of(start, WireBytes.begin(1, 1))),
                Arguments.of("block inside a transaction", List.of(WireBytes.begin(1, 1), start)),
                Arguments.of(
                        "relation not described in its stream",
                        List.of(
                                WireBytes.relation(0, TABLE, "t"),
                                start,
                                WireBytes.insert(XID, TABLE, "x"),
                                stop,
                                WireBytes.streamCommit(XID, 1))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegalOrders")
    void isAnError(String what, List<byte[]> messages) {
        try (AssemblerRun run = AssemblerRun.inMemory(directory)) {
            messages.subList(0, messages.size() - 1).forEach(run::receive);
            assertThrows(UnexpectedMessageException.class, () -> run.receive(messages.getLast()), what);
        }
        assertTrue(AssemblerRun.isEmpty(directory));
    }

    @Test
    void blockIsAnErrorIfStreamingWasNotAskedFor() {
        try (TransactionAssembler assembler = new TransactionAssembler()) {
            assertThrows(
                    UnexpectedMessageException.class,
                    () -> assembler.accept(new PgOutputMessage.StreamStart(XID, true), new byte[0], 0, 0, event -> {}));
        }
    }

    @Test
    void memoryLimitIsOverAllTransactionsAndTheLargestGivesWay() {
        long limit = 64 * 1024;
        try (AssemblerRun run = new AssemblerRun(new SpoolSettings(directory, limit, Long.MAX_VALUE))) {
            block(run, true, WireBytes.relation(XID, TABLE, "t"));
            run.receive(WireBytes.streamStart(XID + 1, true))
                    .receive(WireBytes.relation(XID + 1, TABLE, "t"))
                    .receive(WireBytes.insert(XID + 1, TABLE, "small"))
                    .receive(WireBytes.streamStop());
            for (int i = 0; i < 1000; i++) {
                block(run, false, WireBytes.insert(XID, TABLE, "x".repeat(1000)));
                assertTrue(run.assembler().spoolUsage().memoryBytes() <= limit);
            }
            assertTrue(run.assembler().spoolUsage().diskBytes() > 900_000);
            assertEquals(1, AssemblerRun.spoolFiles(directory).size());
            run.receive(WireBytes.streamCommit(XID + 1, 100)).receive(WireBytes.streamCommit(XID, 200));
            assertEquals(1001, run.inserted().size());
            assertEquals(new SpoolUsage(0, 0, 0), run.assembler().spoolUsage());
            assertEquals(List.of(), AssemblerRun.spoolFiles(directory));
        }
    }

    @Test
    void valueLargerThanTheMemoryLimitPasses() {
        String large = "x".repeat(3_000_000);
        try (AssemblerRun run = new AssemblerRun(new SpoolSettings(directory, 100_000, Long.MAX_VALUE))) {
            block(
                    run,
                    true,
                    WireBytes.relation(XID, TABLE, "t"),
                    WireBytes.insert(XID, TABLE, "before"),
                    WireBytes.insert(SUBXID, TABLE, large),
                    WireBytes.insert(SUBXID, TABLE, "after"));
            assertTrue(run.assembler().spoolUsage().memoryBytes() < 100_000);
            run.receive(WireBytes.streamCommit(XID, 100));
            assertEquals(List.of("before", large, "after"), run.inserted());
        }
    }

    @Test
    void closeRemovesOpenTransactionsAndMayBeRepeated() {
        AssemblerRun run = AssemblerRun.inFiles(directory);
        block(run, true, WireBytes.relation(XID, TABLE, "t"), WireBytes.insert(XID, TABLE, "a"));
        assertFalse(AssemblerRun.spoolFiles(directory).isEmpty());
        run.close();
        run.close();
        assertTrue(AssemblerRun.isEmpty(directory));
    }

    private static void block(AssemblerRun run, boolean first, byte[]... messages) {
        run.receive(WireBytes.streamStart(XID, first));
        for (byte[] message : messages) {
            run.receive(message);
        }
        run.receive(WireBytes.streamStop());
    }

    private static void ordinary(AssemblerRun run, long lsn, byte[] message) {
        run.receive(WireBytes.begin(1, lsn)).receive(message).receive(WireBytes.commit(lsn));
    }

    private static List<String> namesAndValues(AssemblerRun run) {
        List<String> names = run.events().stream()
                .filter(Change.Insert.class::isInstance)
                .map(event -> ((Change.Insert) event).relation().name().name())
                .toList();
        List<String> values = run.inserted();
        return IntStream.range(0, names.size())
                .mapToObj(i -> names.get(i) + " " + values.get(i))
                .toList();
    }
}
