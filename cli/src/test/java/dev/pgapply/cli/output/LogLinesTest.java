package dev.pgapply.cli.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogLinesTest {

    private final StringWriter written = new StringWriter();
    private final Console console = new Console(new PrintWriter(written), InstantSource.system(), false);

    @Test
    void theLibrariesAreHeardWhenSomethingIsWrongOnly() {
        LogLines.install(console, false);
        LoggerFactory.getLogger("dev.pgapply.apply.X").debug("hidden");
        LoggerFactory.getLogger("dev.pgapply.apply.X").info("ours {}", 1);
        LoggerFactory.getLogger("com.zaxxer.hikari.X").info("hidden");
        LoggerFactory.getLogger("com.zaxxer.hikari.X").warn("hidden");
        LoggerFactory.getLogger("org.flywaydb.X").warn("migrations", new IllegalStateException("why"));
        java.util.logging.Logger.getLogger("org.postgresql.X").warning("hidden");
        java.util.logging.Logger.getLogger("org.flywaydb.X").severe("bridged");
        assertWritten("INFO  ours 1", "WARN  migrations: why", "ERROR bridged");
    }

    @Test
    void debugShowsMoreOfOurs() {
        LogLines.install(console, true);
        LoggerFactory.getLogger("dev.pgapply.apply.X").debug("shown");
        LoggerFactory.getLogger("com.zaxxer.hikari.X").debug("hidden");
        LoggerFactory.getLogger("com.zaxxer.hikari.X").info("shown\ntoo");
        assertWritten("DEBUG shown", "INFO  shown", "    too");
    }

    private void assertWritten(String... lines) {
        assertEquals(
                String.join("\n", lines),
                written.toString()
                        .replaceAll("(?m)^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z ", "")
                        .strip());
    }
}
