package dev.pgapply.cli.output;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.event.Level;

/// Standard error: whole lines, and below them, on a terminal, one line that is redrawn. Safe for calls from
/// several threads; what is written is flushed at once.
public final class Console {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /// Carriage return, then "erase to the end of the line".
    private static final String ERASE = "\r\u001b[K";

    private final PrintWriter out;
    private final InstantSource clock;
    private final boolean terminal;
    private final ReentrantLock lock = new ReentrantLock();
    private String status = "";

    /// A console over a writer.
    ///
    /// @param terminal whether a line can be redrawn there
    public Console(PrintWriter out, InstantSource clock, boolean terminal) {
        this.out = out;
        this.clock = clock;
        this.terminal = terminal;
    }

    public boolean isTerminal() {
        return terminal;
    }

    /// A log line with the time; further lines of the text are indented.
    public void log(Level level, String text) {
        log(clock.instant(), level, text);
    }

    void log(Instant time, Level level, String text) {
        String indented = text.strip().replace("\n", "\n    ");
        print(TIME.format(time) + " " + String.format(Locale.ROOT, "%-5s", level) + " " + indented);
    }

    /// The text as it is, above the redrawn line.
    public void print(String text) {
        lock.lock();
        try {
            out.print(status.isEmpty() ? "" : ERASE);
            out.println(text);
            out.print(status);
            out.flush();
        } finally {
            lock.unlock();
        }
    }

    /// Replaces the redrawn line, or removes it with an empty text; does nothing where there is no terminal.
    public void redraw(String text) {
        if (!terminal) {
            return;
        }
        lock.lock();
        try {
            out.print(status.isEmpty() ? "" : ERASE);
            out.print(text);
            out.flush();
            status = text;
        } finally {
            lock.unlock();
        }
    }
}
