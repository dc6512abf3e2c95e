package dev.pgapply.it;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;

/// Waits for a condition by asking it again and again, never for a mere duration.
final class Await {

    /// Generous, since a waiting test costs nothing and a busy machine is slow.
    static final Duration PATIENCE = Duration.ofSeconds(90);

    private Await() {}

    /// Returns when the condition holds, fails the test when it does not within [#PATIENCE].
    ///
    /// @param what for the failure's text: what should have become true
    static void until(String what, Callable<Boolean> condition) {
        until(what, PATIENCE, condition);
    }

    /// As above with a deadline of its own. What the condition throws ends the test at once.
    static void until(String what, Duration patience, Callable<Boolean> condition) {
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            while (!condition.call()) {
                if (System.nanoTime() > deadline) {
                    Assertions.fail("not within " + patience.toSeconds() + " s: " + what);
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for: " + what, e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("cannot tell whether: " + what, e);
        }
    }
}
