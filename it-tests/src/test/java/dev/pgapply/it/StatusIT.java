package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What `pgapply status` shows.
final class StatusIT {

    @Test
    void statusShowsProgressSlotTablesAndWhatIsPrepared() {
        try (Replication replication = Replication.newest().with(setup -> setup.twoPhase = true)) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY)");
            String unknown = status(replication, 3).stderr();
            assertTrue(unknown.contains("the target knows no subscription " + replication.name()), unknown);
            try (EngineRun run = replication.engine()) {
                replication.source().execute("INSERT INTO t VALUES (1)");
                replication.awaitApplied();
                replication.source().execute("BEGIN", "INSERT INTO t VALUES (2)", "PREPARE TRANSACTION 'pending'");
                replication.awaitSeen();
                String running = status(replication, 0).stdout();
                assertTrue(running.contains("\"running\":true"), running);
                assertTrue(running.contains("\"active\":true"), running);
                assertTrue(running.contains("\"tables\":{\"ready\":1}"), running);
                assertTrue(running.contains("\"prepared\":[{\"gid\":\"pgapply_" + replication.name()), running);
                run.assertRunning();
            }
            String stopped = status(replication, 0).stdout();
            assertTrue(stopped.contains("\"running\":false"), stopped);
            assertTrue(stopped.contains("\"active\":false"), stopped);
            Lsn progress = replication.progress();
            assertTrue(stopped.contains("\"progress\":\"" + progress + "\""), stopped);
            assertEquals(1, stopped.lines().count());
            replication.source().execute("ROLLBACK PREPARED 'pending'");
            replication.applyUntilNow();
            assertTrue(status(replication, 0).stdout().contains("\"prepared\":[]"));
        }
    }

    private record Output(String stdout, String stderr) {}

    private static Output status(Replication replication, int exitCode) {
        try (Launcher status = Launcher.start(
                List.of(
                        "status",
                        "--json",
                        "--name",
                        replication.name(),
                        "--source",
                        replication.source().uri(),
                        "--target",
                        replication.target().uri()),
                Map.of())) {
            assertEquals(exitCode, status.awaitExit(), status.stderr());
            return new Output(status.stdout(), status.stderr());
        }
    }
}
