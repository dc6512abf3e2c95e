package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription.TargetRows;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// 024_add_drop_pub: which publications a subscription names changes from run to run.
final class PublicationList024IT {

    /// 024_add_drop_pub: #169
    @Test
    void tableOfADroppedPublicationKeepsItsRowsAndANewOneIsCopied() {
        try (Replication replication = twoTables()) {
            replication.with(setup -> setup.publications = List.of("p2"));
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertTrue(
                        run.events(EngineEvent.Warning.class).stream()
                                .anyMatch(warning ->
                                        warning.message().startsWith("table public.tab_1 is no longer published")),
                        "the table that left is reported");
                replication.source().execute("INSERT INTO tab_1 VALUES (99)", "INSERT INTO tab_2 VALUES (99)");
                replication.awaitApplied();
            }
            replication.assertIdentical("tab_2");
            assertEquals(10, replication.target().count("tab_1"));
        }
    }

    /// 024_add_drop_pub: #170
    @Test
    void tableThatComesBackIsCopiedAgainAsTheTargetsRowsAreToBeTreated() {
        try (Replication replication = twoTables()) {
            replication.with(setup -> setup.publications = List.of("p2")).applyUntilNow();
            replication.source().execute("INSERT INTO tab_1 VALUES (11)", "DELETE FROM tab_1 WHERE a = 1");
            replication.with(setup -> setup.publications = List.of("p1", "p2"));
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refused.code());
                assertTrue(String.valueOf(refused.getMessage()).contains("public.tab_1"), refused::getMessage);
            }
            replication.with(setup -> setup.targetRows = TargetRows.KEEP).applyUntilNow();
            assertEquals(20, replication.target().count("tab_1"));
            replication.with(setup -> setup.publications = List.of("p2")).applyUntilNow();
            replication.with(setup -> {
                setup.publications = List.of("p1", "p2");
                setup.targetRows = TargetRows.TRUNCATE;
            });
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// 024_add_drop_pub: #171, #172
    @Test
    void missingPublicationIsNamedBeforeAnythingIsMade() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE tab_1 (a int)", "CREATE TABLE tab_3 (a int)");
            replication.source().execute("CREATE PUBLICATION p1 FOR TABLE tab_1", "INSERT INTO tab_3 VALUES (1)");
            replication.with(setup -> setup.publications = List.of("p1", "p3"));
            try (EngineRun run = replication.engine()) {
                ApplyException missing = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, missing.code());
                assertTrue(String.valueOf(missing.getMessage()).contains("p3"), missing::getMessage);
            }
            assertEquals(
                    Optional.of("0"),
                    replication
                            .source()
                            .query("SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'pgapply_"
                                    + replication.name() + "'"));
            replication.source().execute("CREATE PUBLICATION p3 FOR TABLE tab_3");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication.source().execute("INSERT INTO tab_3 VALUES (2)");
                replication.awaitApplied();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    private static Replication twoTables() {
        Replication replication = Replication.newest();
        replication.both("CREATE TABLE tab_1 (a int)", "CREATE TABLE tab_2 (a int)");
        replication
                .source()
                .execute(
                        "ALTER TABLE tab_1 REPLICA IDENTITY FULL",
                        "INSERT INTO tab_1 SELECT generate_series(1, 10)",
                        "INSERT INTO tab_2 SELECT generate_series(1, 10)",
                        "CREATE PUBLICATION p1 FOR TABLE tab_1",
                        "CREATE PUBLICATION p2");
        replication.with(setup -> setup.publications = List.of("p1", "p2")).applyUntilNow();
        assertEquals(0, replication.target().count("tab_2"));
        replication.source().execute("ALTER PUBLICATION p2 ADD TABLE tab_2");
        return replication;
    }
}
