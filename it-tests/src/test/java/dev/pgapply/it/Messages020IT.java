package dev.pgapply.it;

import org.junit.jupiter.api.Test;

/// 020_messages: logical messages in the source's log, which nobody asks for here, disturb nothing.
final class Messages020IT {

    /// 020_messages: #136, #137, #138
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
                run.assertRunning();
            }
        }
    }
}
