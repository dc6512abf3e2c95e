package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription.Binary;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Field cases, group B: large values that the source does not send again.
final class ToastBIT {

    private static final String COLUMNS = "(id int, body text, meta jsonb, arr uuid[], n int)";

    private static final String ROW = """
            (1, repeat('x', 9000), (SELECT jsonb_object_agg(g, md5(g::text)) FROM generate_series(1, 900) g),
             (SELECT array_agg(md5(g::text)::uuid) FROM generate_series(1, 900) g), 0)""";

    private static final List<String> TABLES = List.of("doc", "doc_full", "doc_keyless");

    /// B022: the table with a key. B025: the one with REPLICA IDENTITY FULL, and the one without any key.
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "OFF"})
    void whatIsNotSentStaysAsItIs(Binary binary) {
        try (Replication replication = prepared(binary)) {
            for (String table : TABLES) {
                replication.source().execute("INSERT INTO " + table + " VALUES " + ROW);
            }
            replication.source().execute("INSERT INTO blob VALUES (repeat('y', 9000))");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                for (String table : TABLES) {
                    replication
                            .source()
                            .execute(
                                    "UPDATE " + table + " SET n = 1",
                                    "UPDATE " + table + " SET n = n + 1, body = NULL",
                                    "UPDATE " + table + " SET n = n + 1");
                }
                // Nothing at all is sent of this row but that it is there.
                replication.source().execute("UPDATE blob SET body = body");
                replication.awaitApplied();
                replication.assertIdentical();
                for (String table : TABLES) {
                    assertEquals(
                            Optional.of("3"),
                            replication
                                    .target()
                                    .query("SELECT n FROM " + table + " WHERE body IS NULL AND"
                                            + " arr[900] IS NOT NULL AND meta ? '900'"));
                }
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
            }
        }
    }

    /// B026
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "OFF"})
    void aPartialUpdateDoesNotReplaceTheInsertBeforeIt(Binary binary) {
        try (Replication replication = prepared(binary)) {
            replication.applyUntilNow();
            // All of this waits when the engine starts, and so is one group.
            for (String table : TABLES) {
                replication
                        .source()
                        .transaction(
                                "INSERT INTO " + table + " (id, body, n) VALUES (7, repeat('b', 6000), 0)",
                                "UPDATE " + table + " SET n = 1 WHERE id = 7");
                replication.source().execute("UPDATE " + table + " SET n = 2 WHERE id = 7");
                replication
                        .source()
                        .transaction(
                                "INSERT INTO " + table + " (id, body, n) VALUES (8, repeat('c', 6000), 0)",
                                "DELETE FROM " + table + " WHERE id = 8",
                                "INSERT INTO " + table + " (id, body, n) VALUES (8, repeat('d', 6000), 0)",
                                "UPDATE " + table + " SET n = 1 WHERE id = 8");
                replication.source().execute("UPDATE " + table + " SET n = 2 WHERE id = 8");
            }
            replication.applyUntilNow();
            replication.assertIdentical();
            for (String table : TABLES) {
                assertEquals(
                        List.of("7 2 6000 b", "8 2 6000 d"),
                        replication
                                .target()
                                .queryAll("SELECT concat_ws(' ', id, n, length(body), left(body, 1)) FROM " + table
                                        + " ORDER BY id"));
            }
        }
    }

    private static Replication prepared(Binary binary) {
        Replication replication = Replication.newest().with(setup -> setup.binary = binary);
        for (String table : TABLES) {
            replication.both(
                    "CREATE TABLE " + table + " " + COLUMNS,
                    "ALTER TABLE " + table + " ALTER body SET STORAGE EXTERNAL");
        }
        replication.both(
                "ALTER TABLE doc ADD PRIMARY KEY (id)",
                "ALTER TABLE doc_full ADD PRIMARY KEY (id)",
                "ALTER TABLE doc_full REPLICA IDENTITY FULL",
                "ALTER TABLE doc_keyless REPLICA IDENTITY FULL",
                "CREATE TABLE blob (body text)",
                "ALTER TABLE blob ALTER body SET STORAGE EXTERNAL",
                "ALTER TABLE blob REPLICA IDENTITY FULL");
        return replication;
    }
}
