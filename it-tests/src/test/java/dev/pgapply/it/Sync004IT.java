package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 004_sync: the first copy, copies that are in somebody's way, and tables that come later.
final class Sync004IT {

    /// 004_sync: #51, #52, #55
    @Test
    void aCopyThatTheTargetsRowsForbidSucceedsOnceTheyAreGone() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE rep (a int PRIMARY KEY)");
            replication.source().execute("INSERT INTO rep SELECT generate_series(1, 20)");
            replication.target().execute("INSERT INTO rep SELECT generate_series(1, 10)");
            try (EngineRun run = replication.engine()) {
                ApplyException refusal = run.awaitFailure();
                assertEquals(ErrorCode.SETUP, refusal.code());
                assertTrue(refusal.getMessage().contains("public.rep"), refusal.getMessage());
                assertTrue(refusal.hint().contains("--target-rows"), refusal.hint());
            }
            // Nothing was made at the source by then.
            assertEquals(List.of(), replication.source().queryAll(slots()));
            replication.with(setup -> setup.targetRows = Subscription.TargetRows.KEEP);
            try (EngineRun run = replication.engine()) {
                ApplyException conflict = run.awaitFailure();
                assertEquals(ErrorCode.CONFLICT, conflict.code(), conflict.getMessage());
                assertTrue(conflict.getMessage().contains("rep_pkey"), conflict.getMessage());
            }
            assertEquals(10, replication.target().count("rep"));
            assertEquals(
                    List.of("pgapply_" + replication.name()),
                    replication.source().queryAll(slots()));
            replication.target().execute("DELETE FROM rep");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.assertIdentical();
                run.assertRunning();
            }
        }
    }

    private static String slots() {
        return "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()";
    }

    /// 004_sync: #53
    @Test
    void aSecondSubscriptionWithoutCopyDisturbsNothing() {
        try (Replication first = Replication.newest();
                Replication second = Replication.besides(first.source(), first.target())) {
            first.both("CREATE TABLE rep (a int PRIMARY KEY)");
            first.source().execute("INSERT INTO rep SELECT generate_series(1, 10)");
            first.applyUntilNow();
            second.with(setup -> setup.copyData = false).applyUntilNow();
            first.assertIdentical();
            first.source().execute("INSERT INTO rep VALUES (11)");
            first.applyUntilNow();
            first.assertIdentical();
        }
    }

    /// 004_sync: #54
    ///
    /// A server's own subscriber takes nothing of the new table until REFRESH; here it is copied by itself.
    @Test
    void aTableThatComesLaterIsCopiedAndFollowedByItself() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE rep (a int PRIMARY KEY)");
            replication.source().execute("INSERT INTO rep SELECT generate_series(1, 10)");
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                // First on the target, so that it is there when it is first heard of.
                replication.target().execute("CREATE TABLE later (a int)");
                replication
                        .source()
                        .execute("CREATE TABLE later (a int)", "INSERT INTO later SELECT generate_series(1, 10)");
                replication.awaitSeen();
                replication.assertIdentical();
                replication
                        .source()
                        .execute("INSERT INTO later SELECT generate_series(1, 10)", "INSERT INTO rep VALUES (11)");
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(20, replication.target().count("later"));
                run.assertRunning();
            }
        }
    }
}
