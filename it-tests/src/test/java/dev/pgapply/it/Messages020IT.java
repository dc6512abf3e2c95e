package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.decoder.Lsn;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// 020_messages: logical messages in the source's log are told, and disturb nothing.
final class Messages020IT {

    @TempDir
    private Path spool;

    /// 020_messages: #135, #136, #137, #138
    @Test
    void logicalMessagesDisturbNeitherChangesNorThePosition() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.source().transaction("SELECT pg_logical_emit_message(true, 'pgoutput', 'alone')");
                replication.source().execute("SELECT pg_logical_emit_message(false, 'pgoutput', 'outside')");
                replication.awaitApplied();
                replication
                        .source()
                        .transaction(
                                "INSERT INTO t VALUES (1)",
                                "SELECT pg_logical_emit_message(true, 'pgoutput', 'within')",
                                "SELECT pg_logical_emit_message(false, 'pgoutput', 'beside')",
                                "INSERT INTO t VALUES (2)");
                replication
                        .source()
                        .execute(
                                "BEGIN",
                                "INSERT INTO t VALUES (3)",
                                "SELECT pg_logical_emit_message(false, 'pgoutput', 'first')",
                                "SELECT pg_logical_emit_message(true, 'pgoutput', 'lost')",
                                "SELECT pg_logical_emit_message(false, 'pgoutput', 'second')",
                                "ROLLBACK",
                                "INSERT INTO t VALUES (4)");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(
                        List.of("transactional alone", "outside", "beside", "transactional within", "first", "second"),
                        told(run));
                run.assertRunning();
            }
        }
    }

    /// 020_messages: #135, #137, #138 in streamed transactions
    @ParameterizedTest
    @MethodSource("dev.pgapply.it.SmallDecodingMemory#modes")
    void messagesOfAStreamedTransactionAreToldWithItsCommit(Mode mode) throws SQLException {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.with(setup -> setup.streaming = SmallDecodingMemory.spooling(mode, spool));
            SmallDecodingMemory memory = SmallDecodingMemory.none(replication);
            TestDatabase source = replication.source();
            try (EngineRun run = replication.engine();
                    Connection connection = source.connect();
                    Statement open = connection.createStatement()) {
                replication.awaitApplied();
                long before = memory.streamed();
                connection.setAutoCommit(false);
                open.execute("INSERT INTO t VALUES (1)");
                open.execute("SELECT pg_logical_emit_message(true, 'pgoutput', 'within')");
                open.execute("SELECT pg_logical_emit_message(false, 'pgoutput', 'beside')");
                open.execute("INSERT INTO t VALUES (2)");
                memory.awaitStreamed(before);
                source.execute("INSERT INTO t VALUES (3)");
                replication.awaitSeen();
                assertEquals(List.of("beside"), told(run));
                connection.commit();
                open.execute("INSERT INTO t VALUES (4)");
                open.execute("SELECT pg_logical_emit_message(true, 'pgoutput', 'lost')");
                open.execute("SELECT pg_logical_emit_message(false, 'pgoutput', 'again')");
                connection.rollback();
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of("beside", "transactional within", "again"), told(run));
                run.assertRunning();
            }
        }
    }

    private static List<String> told(EngineRun run) {
        return run.events(EngineEvent.LogicalMessage.class).stream()
                .filter(message -> message.prefix().equals("pgoutput"))
                .map(message -> (message.transactional() ? "transactional " : "")
                        + message.content().utf8())
                .toList();
    }

    /// Without it, a source on which nothing happens writes nothing that the slot could move over.
    @Test
    void aHeartbeatMovesAnIdleSlot() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            replication.with(setup -> setup.heartbeat = Optional.of(Duration.ofMillis(100)));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (int beats = 0; beats < 3; beats++) {
                    Lsn before = replication.confirmed();
                    Await.until("the slot moves", () -> replication.confirmed().isAfter(before));
                }
                replication.source().execute("INSERT INTO t VALUES (1)");
                replication.awaitSeen();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }
}
