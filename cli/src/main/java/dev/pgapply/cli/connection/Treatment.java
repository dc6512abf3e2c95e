package dev.pgapply.cli.connection;

import java.util.List;
import java.util.Map;

/// What becomes of a `libpq` connection parameter on its way to the driver.
sealed interface Treatment {

    /// It is part of the endpoint itself, or has a step of its own.
    record Own() implements Treatment {}

    /// It has no effect: pgapply sets the matter itself, or the driver has no such thing and nothing is lost.
    record Ignored() implements Treatment {}

    /// The driver has the same parameter, maybe under another name.
    ///
    /// @param values the values it may have; empty allows all
    record Passed(String property, List<String> values) implements Treatment {}

    /// The driver has it with other words for the values.
    record Mapped(String property, Map<String, String> values) implements Treatment {}

    /// The driver cannot do it; only values that ask for what it does anyway are accepted.
    record Refused(String reason, List<String> harmless) implements Treatment {}
}
