package dev.pgapply.cli;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.cli.output.Console;
import dev.pgapply.cli.output.ErrorText;
import dev.pgapply.cli.settings.UsageException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.StringJoiner;

/// Tells the user what went wrong, and the shell by a number.
final class Failures {

    private Failures() {}

    /// @param debug show the stack trace as well
    static ExitCode report(Throwable failure, Console console, boolean debug) {
        if (debug) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            console.print(trace.toString().stripTrailing());
        }
        return switch (failure) {
            case UsageException usage -> {
                console.print(ErrorText.of(ExitCode.USAGE.name(), String.valueOf(usage.getMessage()), usage.hint()));
                yield ExitCode.USAGE;
            }
            case ApplyException apply -> {
                console.print(ErrorText.of(apply.code().name(), String.valueOf(apply.getMessage()), hint(apply)));
                yield ExitCode.of(apply);
            }
            default -> {
                console.print(unexpected(failure));
                yield ExitCode.DATA;
            }
        };
    }

    private static String hint(ApplyException failure) {
        StringJoiner place = new StringJoiner(", ");
        failure.table().ifPresent(table -> place.add("table " + table));
        failure.lsn().ifPresent(lsn -> place.add("commit position " + lsn));
        return place + "\n" + failure.hint();
    }

    // The message of an exception that nobody foresaw may hold a value of a row; its place in the code cannot.
    private static String unexpected(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        String place = trace.length == 0 ? "" : " at " + trace[0];
        return ErrorText.of(
                "INTERNAL",
                "unexpected " + failure.getClass().getName() + place,
                "Please report this with what --debug shows, after a look whether that holds values of yours.");
    }
}
