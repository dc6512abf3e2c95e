package dev.pgapply.cli.output;

import java.util.stream.Collectors;

/// How an error looks: `pgapply: CODE: message`, and below it, indented, what mends it.
public final class ErrorText {

    private ErrorText() {}

    /// The whole text, without a line end.
    ///
    /// @param hint may be empty, may have several lines
    public static String of(String code, String message, String hint) {
        String indented = hint.strip().lines().map(line -> "\n  " + line).collect(Collectors.joining());
        return "pgapply: " + code + ": " + message.strip().replace("\n", "\n  ") + indented;
    }
}
