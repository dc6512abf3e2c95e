package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// SIGKILL at any moment loses nothing and repeats nothing. Long runs: `-Dpgapply.kills=1000`.
final class KillsIT {

    private static final Map<String, String> SMALL_AND_QUICK_TO_START =
            Map.of("PGAPPLY_JAVA_OPTS", "-Xmx256m", "PGAPPLY_TIER", "1");

    private final long seed = Long.getLong("pgapply.seed", System.nanoTime());
    private final RandomGenerator random = new SplittableRandom(seed);

    /// B080, from the first start over the copy to the stream.
    @Test
    void aKilledProcessLosesAndRepeatsNothing() throws InterruptedException {
        int kills = Integer.getInteger("pgapply.kills", 5);
        System.out.println("KillsIT: -Dpgapply.seed=" + seed + ", kills: " + kills);
        try (Replication replication = Replication.newest()) {
            MixedWorkload workload = MixedWorkload.prepare(replication, random.nextLong(), 200_000);
            AtomicInteger duringCopy = new AtomicInteger();
            workload.during(() -> {
                for (int i = 0; i < kills; i++) {
                    try (Launcher run = replication.run(SMALL_AND_QUICK_TO_START)) {
                        awaitRandomMoment(replication, run, duringCopy.get() <= kills / 10);
                        assertTrue(run.isRunning(), () -> "seed " + seed + ": " + run.stderr());
                        run.kill();
                    }
                    duringCopy.addAndGet(isCopied(replication) ? 0 : 1);
                }
            });
            try (Launcher last = replication.run(SMALL_AND_QUICK_TO_START, "--until", "now")) {
                assertEquals(0, last.awaitExit(), () -> "seed " + seed + ": " + last.stderr());
            }
            System.out.println("KillsIT: " + duringCopy + " of the kills before the end of the copy");
            assertTrue(duringCopy.get() > 0, () -> "seed " + seed + ": no kill before the end of the copy");
            replication.assertIdentical();
        }
    }

    /// The first kills come while tables are copied; later some at an early moment, most after something was
    /// applied, when there is most to go wrong.
    private void awaitRandomMoment(Replication replication, Launcher run, boolean copy) throws InterruptedException {
        int kind = random.nextInt(5);
        if (kind == 0 && !copy) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(2_500));
            return;
        }
        Lsn before = replication.progress();
        Await.until("the run has begun to do something", () -> {
            assertTrue(run.isRunning(), () -> "seed " + seed + ": " + run.stderr());
            return isCopied(replication) ? replication.progress().isAfter(before) : copy && isCopying(replication);
        });
        TimeUnit.MILLISECONDS.sleep(random.nextInt(kind == 4 && !copy ? 2_500 : 300));
    }

    private static boolean isCopying(Replication replication) {
        return isTrue(
                replication,
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'pgapply/" + replication.name()
                        + "' AND query LIKE 'COPY%' AND state = 'active'");
    }

    private static boolean isCopied(Replication replication) {
        return isTrue(replication, "SELECT to_regclass('pgapply.table_state') IS NOT NULL")
                && isTrue(
                        replication,
                        "SELECT count(*) > 0 AND bool_and(state NOT IN ('INIT', 'COPYING')) FROM pgapply.table_state"
                                + " WHERE subscription = '" + replication.name() + "'");
    }

    private static boolean isTrue(Replication replication, String sql) {
        return replication.target().query(sql).equals(Optional.of("t"));
    }
}
