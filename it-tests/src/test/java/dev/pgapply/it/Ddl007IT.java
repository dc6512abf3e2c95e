package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// 007_ddl: publications that are missing, and publications that change their names.
final class Ddl007IT {

    /// 007_ddl: #59, #60, #61
    ///
    /// A server's own subscription is made with a warning, and may never get anything; here nothing is begun.
    @Test
    void missingPublicationsAreAllNamedBeforeAnythingIsMade() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (a int)");
            replication.source().execute("CREATE PUBLICATION here FOR TABLE t");
            assertRefused(replication, List.of("here", "away"), "publication does not exist: away");
            assertRefused(replication, List.of("away", "here", "Gone"), "publications do not exist: away, Gone");
            assertEquals(
                    List.of(),
                    replication
                            .source()
                            .queryAll(
                                    "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"));
            replication.with(setup -> setup.publications = List.of("here")).applyUntilNow();
            // A list that is changed later is checked as well.
            assertRefused(replication, List.of("away"), "publication does not exist: away");
        }
    }

    private static void assertRefused(Replication replication, List<String> publications, String message) {
        try (EngineRun run =
                replication.with(setup -> setup.publications = publications).engine()) {
            ApplyException refusal = run.awaitFailure();
            assertEquals(ErrorCode.SETUP, refusal.code());
            assertTrue(refusal.getMessage().contains(message), refusal.getMessage());
            assertTrue(refusal.hint().contains("There are: here"), refusal.hint());
        }
    }

    /// 007_ddl: #62, #63
    @ParameterizedTest
    @ValueSource(strings = {"FOR TABLE t", "FOR ALL TABLES"})
    void aPublicationThatIsRenamedAwaySendsNoMore(String what) {
        try (Replication replication = Replication.newest().with(setup -> setup.publications = List.of("p"))) {
            replication.both("CREATE TABLE t (a int)");
            replication.source().execute("CREATE PUBLICATION empty", "CREATE PUBLICATION p " + what);
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.source().execute("INSERT INTO t VALUES (1)");
                replication.awaitSeen();
                replication.assertIdentical();
                replication
                        .source()
                        .execute(
                                "ALTER PUBLICATION p RENAME TO other",
                                "ALTER PUBLICATION empty RENAME TO p",
                                "INSERT INTO t VALUES (2)");
                replication.awaitSeen();
                assertEquals(List.of("1"), replication.target().queryAll("SELECT a FROM t"));
                run.assertRunning();
            }
        }
    }
}
