package dev.pgapply.decoder;

/// What the source logged of the row before an UPDATE or DELETE.
public sealed interface OldRow {

    /// The values; as many as the relation has columns, in both cases.
    Row row();

    /// Only the replica identity: every column outside it is a [Row#NULL] that says nothing. That an UPDATE
    /// carries one does
    /// not mean that the key has changed: it also comes when a key value is stored out of line.
    record Key(Row row) implements OldRow {}

    /// Every value (`REPLICA IDENTITY FULL`), also those that the new row calls unchanged.
    record Full(Row row) implements OldRow {}
}
