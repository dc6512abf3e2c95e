package dev.pgapply.decoder;

/// The row after an INSERT or UPDATE.
public sealed interface NewRow {

    /// The values, some of them [Row#UNCHANGED] in a [Partial].
    Row row();

    /// Every value is there.
    record Full(Row row) implements NewRow {}

    /// At least one value is unchanged and was not sent: it has to be kept, or taken from the old row if that
    /// is full.
    record Partial(Row row) implements NewRow {}
}
