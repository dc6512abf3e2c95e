package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.OldRow;
import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.PgOutputMessage;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.Value;
import dev.pgapply.decoder.Vectors;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Transactions that come whole, after their commit or their prepare.
class TransactionAssemblerTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05Z");
    private static final Lsn FINAL = new Lsn(100);
    private static final Lsn END = new Lsn(110);
    private static final Row ROW = Row.of(List.of(Value.text("1"), Value.NULL));

    private static final PgOutputMessage BEGIN = new PgOutputMessage.Begin(FINAL, TIME, 7);
    private static final PgOutputMessage COMMIT = new PgOutputMessage.Commit(FINAL, END, TIME);
    private static final PgOutputMessage ORIGIN = new PgOutputMessage.Origin(new Lsn(5), "upstream");
    private static final PgOutputMessage INSERT = new PgOutputMessage.Insert(1, new NewRow.Full(ROW));
    private static final PgOutputMessage BEGIN_PREPARE = new PgOutputMessage.BeginPrepare(FINAL, END, TIME, 7, "gid");
    private static final PgOutputMessage PREPARE = new PgOutputMessage.Prepare(FINAL, END, TIME, 7, "gid");
    private static final PgOutputMessage COMMIT_PREPARED =
            new PgOutputMessage.CommitPrepared(new Lsn(200), new Lsn(210), TIME, 7, "gid");

    private final List<TransactionEvent> events = new ArrayList<>();
    private final TransactionAssembler assembler = new TransactionAssembler();

    @Test
    void transactionFlowsWhileItIsReceived() {
        accept(BEGIN);
        assertEquals(List.of(), events, "the origin may still come");
        Relation relation = describe(1, "t");
        accept(INSERT);
        assertEquals(
                List.of(
                        new TransactionEvent.Begin(7, FINAL, TIME, Optional.empty(), Optional.empty()),
                        new Change.Insert(relation, new NewRow.Full(ROW))),
                events);
        accept(COMMIT);
        assertEquals(new TransactionEvent.Commit(FINAL, END, TIME), events.getLast());
    }

    @Test
    void beginNamesTheOriginThatComesAfterIt() {
        accept(BEGIN, ORIGIN);
        assertEquals(
                List.of(new TransactionEvent.Begin(7, FINAL, TIME, Optional.of("upstream"), Optional.empty())), events);
    }

    @Test
    void transactionWithoutChangesIsBeginAndCommit() {
        accept(BEGIN, COMMIT);
        assertEquals(
                List.of(
                        new TransactionEvent.Begin(7, FINAL, TIME, Optional.empty(), Optional.empty()),
                        new TransactionEvent.Commit(FINAL, END, TIME)),
                events);
    }

    @Test
    void preparedTransactionEndsWithPrepareAndIsDecidedLater() {
        accept(BEGIN_PREPARE, PREPARE, COMMIT_PREPARED);
        assertEquals(
                List.of(
                        new TransactionEvent.Begin(7, FINAL, TIME, Optional.empty(), Optional.of("gid")),
                        new TransactionEvent.Prepare(7, "gid", FINAL, END, TIME),
                        new TransactionEvent.CommitPrepared(7, "gid", new Lsn(200), new Lsn(210), TIME)),
                events);
    }

    @Test
    void decisionOfAnUnknownPreparedTransactionIsHandedOn() {
        accept(new PgOutputMessage.RollbackPrepared(new Lsn(50), END, TIME, TIME, 6, ""));
        assertEquals(List.of(new TransactionEvent.RollbackPrepared(6, "", new Lsn(50), END, TIME, TIME)), events);
    }

    @Test
    void messageThatIsNotTransactionalStandsAlone() {
        accept(new PgOutputMessage.LogicalMessage(false, FINAL, "p", Bytes.utf8("x")));
        assertEquals(List.of(new TransactionEvent.Message(false, FINAL, "p", Bytes.utf8("x"))), events);
    }

    @Test
    void repeatedDescriptionKeepsTheInstance() {
        Relation first = describe(1, "t");
        accept(BEGIN, INSERT);
        Relation equal = describe(1, "t");
        accept(INSERT);
        assertNotSame(first, equal);
        assertSame(first, lastInsert().relation());
    }

    @Test
    void newDescriptionIsInForceAtOnce() {
        describe(1, "t");
        accept(BEGIN, INSERT);
        Relation renamed = describe(1, "renamed");
        accept(INSERT);
        assertSame(renamed, lastInsert().relation());
    }

    @Test
    void describedButUnusedRelationIsHarmless() {
        Relation root = describe(1, "root");
        describe(2, "leaf");
        accept(BEGIN, INSERT);
        assertSame(root, lastInsert().relation());
    }

    static Stream<Arguments> illegalOrders() {
        PgOutputMessage narrow = new PgOutputMessage.Insert(1, new NewRow.Full(Row.of(List.of(Value.NULL))));
        return Stream.of(
                Arguments.of("change outside", List.of(INSERT)),
                Arguments.of("unknown relation", List.of(BEGIN, new PgOutputMessage.Insert(9, new NewRow.Full(ROW)))),
                Arguments.of(
                        "truncate of an unknown relation",
                        List.of(BEGIN, new PgOutputMessage.Truncate(false, false, List.of(1, 9)))),
                Arguments.of("row narrower than its relation", List.of(BEGIN, narrow)),
                Arguments.of(
                        "old row narrower than its relation",
                        List.of(
                                BEGIN,
                                new PgOutputMessage.Delete(1, new OldRow.Key(Row.of(List.of(Value.text("1"))))))),
                Arguments.of("begin inside", List.of(BEGIN, BEGIN)),
                Arguments.of("begin prepare inside", List.of(BEGIN, BEGIN_PREPARE)),
                Arguments.of("commit outside", List.of(COMMIT)),
                Arguments.of(
                        "commit of another position",
                        List.of(BEGIN, new PgOutputMessage.Commit(new Lsn(101), END, TIME))),
                Arguments.of("commit of a prepared one", List.of(BEGIN_PREPARE, COMMIT)),
                Arguments.of("prepare of an ordinary one", List.of(BEGIN, PREPARE)),
                Arguments.of(
                        "prepare of another gid",
                        List.of(BEGIN_PREPARE, new PgOutputMessage.Prepare(FINAL, END, TIME, 7, "other"))),
                Arguments.of(
                        "prepare of another xid",
                        List.of(BEGIN_PREPARE, new PgOutputMessage.Prepare(FINAL, END, TIME, 8, "gid"))),
                Arguments.of("decision inside", List.of(BEGIN, COMMIT_PREPARED)),
                Arguments.of("origin outside", List.of(ORIGIN)),
                Arguments.of("origin after a change", List.of(BEGIN, INSERT, ORIGIN)),
                Arguments.of("two origins", List.of(BEGIN, ORIGIN, ORIGIN)),
                Arguments.of(
                        "transactional message outside",
                        List.of(new PgOutputMessage.LogicalMessage(true, FINAL, "", Bytes.utf8("")))),
                Arguments.of(
                        "message that is not transactional inside",
                        List.of(BEGIN, new PgOutputMessage.LogicalMessage(false, FINAL, "", Bytes.utf8("")))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("illegalOrders")
    void isAnError(String what, List<PgOutputMessage> messages) {
        describe(1, "t");
        for (PgOutputMessage message : messages.subList(0, messages.size() - 1)) {
            accept(message);
        }
        assertThrows(UnexpectedMessageException.class, () -> accept(messages.getLast()), what);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rows/10-text", "rows/18-binary", "schema_change/14-text", "nothing_published/13-text",
                        "origin/10-text",
                "truncate/18-text", "partitions/18-root", "filters/18-text", "messages/18-messages", "two_phase/18-text"
            })
    void capturedTransactionsAreOrderedAndComplete(String capture) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        Vectors.get(capture).messages().forEach(message -> accept(message.decode(decoder)));
        boolean open = false;
        for (TransactionEvent event : events) {
            assertTrue(event.retainedBytes() > 0);
            switch (event) {
                case TransactionEvent.Begin ignored -> {
                    assertEquals(false, open);
                    open = true;
                }
                case Change ignored -> assertEquals(true, open);
                case TransactionEvent.Message message -> assertEquals(message.transactional(), open);
                case TransactionEvent.Commit ignored -> open = false;
                case TransactionEvent.Prepare ignored -> open = false;
                case TransactionEvent.CommitPrepared ignored -> assertEquals(false, open);
                case TransactionEvent.RollbackPrepared ignored -> assertEquals(false, open);
                case TransactionEvent.Kept ignored -> throw new AssertionError("nothing was streamed");
                case OpenTransaction ignored -> throw new AssertionError("nothing was streamed");
            }
        }
        assertEquals(false, open);
    }

    @Test
    void capturedOriginIsNamedByTheBeginOfItsTransactionAlone() {
        PgOutputDecoder decoder = new PgOutputDecoder();
        Vectors.get("origin/18-text").messages().forEach(message -> accept(message.decode(decoder)));
        assertEquals(
                List.of(Optional.empty(), Optional.of("vectors: upstream 1"), Optional.empty()),
                events.stream()
                        .filter(TransactionEvent.Begin.class::isInstance)
                        .map(begin -> ((TransactionEvent.Begin) begin).origin())
                        .toList());
    }

    private Relation describe(int oid, String name) {
        Relation relation = new Relation(
                oid,
                new TableName("public", name),
                ReplicaIdentity.DEFAULT,
                List.of(new Relation.Column(true, "id", 23, -1), new Relation.Column(false, "v", 25, -1)));
        accept(new PgOutputMessage.RelationMessage(relation));
        return relation;
    }

    private Change.Insert lastInsert() {
        return (Change.Insert) events.getLast();
    }

    private void accept(PgOutputMessage... messages) {
        for (PgOutputMessage message : messages) {
            assembler.accept(message, new byte[0], 0, 0, events::add);
        }
    }
}
