package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.embedded.demo.Demo;
import dev.pgapply.cli.embedded.demo.DemoException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What the demo says is true, whoever the applier is.
class DemoIT {

    private static final int SECONDS = 4;

    /// An applier that ends at once, with an exit status for which there is no reason in the demo.
    static final class Broken {
        private Broken() {}

        public static void main(String[] args) {
            System.err.println("nothing works");
            System.exit(3);
        }
    }

    @Test
    void theDemoEndsIdentical() {
        try (Launcher demo = Launcher.start(List.of("demo", "--seconds", String.valueOf(SECONDS)))) {
            assertEquals(0, demo.awaitExit(Duration.ofMinutes(3)), () -> demo.stdout() + demo.stderr());
            assertTrue(demo.stdout().lines().anyMatch("Identical."::equals), demo::stdout);
            assertEquals("", demo.stderr());
        }
    }

    @Test
    void aLostRowIsNoticed() {
        StringWriter out = new StringWriter();
        assertFalse(demo(out, NativeSubscription.Faulty.class).run());
        assertTrue(out.toString().contains("DIFFERENT"), out::toString);
        assertEquals(
                9,
                out.toString()
                        .lines()
                        .filter(line -> line.endsWith("rows   identical"))
                        .count(),
                out::toString);
        assertTrue(
                out.toString()
                        .lines()
                        .anyMatch(line -> line.contains("shop.stores") && line.contains("1 only on the source, 0")),
                out::toString);
    }

    @Test
    void aBrokenApplierEndsTheDemoWithItsLog() {
        DemoException e = assertThrows(
                DemoException.class,
                () -> demo(new StringWriter(), Broken.class).run());
        assertTrue(String.valueOf(e.getMessage()).contains("exit status 3"), e::getMessage);
        assertTrue(String.valueOf(e.getMessage()).contains("nothing works"), e::getMessage);
    }

    private static Demo demo(StringWriter out, Class<?> applier) {
        return new Demo(new PrintWriter(out), new Demo.Options(false, SECONDS, applier.getName()));
    }
}
