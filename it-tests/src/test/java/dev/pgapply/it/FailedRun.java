package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

/// What a run that has failed has told: an exit code for the script, and for the person one line with the
/// error's code and, indented below it, what mends it.
///
/// @param error the line and what is indented below it
record FailedRun(String error, String stderr) {

    private static final String PREFIX = "pgapply: ";

    /// Waits for the end of the process, and fails the test unless it tells its failure as every failure has to
    /// be told.
    ///
    /// @param says texts that the error must hold
    static FailedRun expect(Launcher run, int exitCode, String code, String... says) {
        int exit = run.awaitExit();
        String stderr = run.stderr();
        List<String> lines = stderr.lines().toList();
        List<String> errors =
                lines.stream().filter(line -> line.startsWith(PREFIX)).toList();
        assertEquals(1, errors.size(), () -> "one line with the error in: " + stderr);
        int first = lines.indexOf(errors.getFirst());
        int end = first + 1;
        while (end < lines.size() && lines.get(end).startsWith("  ")) {
            end++;
        }
        String error = String.join("\n", lines.subList(first, end));
        boolean hint = end > first + 1 || error.contains("did you mean ");
        assertAll(
                () -> assertEquals(exitCode, exit, stderr),
                () -> assertTrue(error.startsWith(PREFIX + code + ": "), error),
                () -> assertTrue(hint, () -> "nothing says what mends it: " + error),
                () -> assertFalse(stderr.contains("\tat "), stderr),
                () -> assertFalse(stderr.contains("Exception"), stderr),
                () -> assertEquals("", run.stdout()),
                () -> assertAll(List.of(says).stream()
                        .map(text -> () -> assertTrue(error.contains(text), () -> text + " is not in: " + error))));
        return new FailedRun(error, stderr);
    }

    /// The indented lines that are SQL, to be run as they are.
    String[] sql() {
        return error.lines()
                .map(String::strip)
                .filter(line -> line.matches("(CREATE|ALTER|DROP|GRANT|SELECT) .*;"))
                .toArray(String[]::new);
    }
}
