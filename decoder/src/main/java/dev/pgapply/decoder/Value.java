package dev.pgapply.decoder;

/// One column of a row as an object: for the slow path and for tests. The fast path asks [Row] for kind, offset
/// and length.
public sealed interface Value {

    /// SQL NULL; in a [OldRow.Key] also the filler of a column outside the key.
    record Null() implements Value {}

    /// Stored out of line and not changed by the UPDATE, so the source did not send it.
    record Unchanged() implements Value {}

    /// The output of the type's text function, UTF-8.
    record Text(Bytes bytes) implements Value {}

    /// The output of the type's send function.
    record Binary(Bytes bytes) implements Value {}

    Value NULL = new Null();
    Value UNCHANGED = new Unchanged();

    /// A text value.
    static Value text(String text) {
        return new Text(Bytes.utf8(text));
    }

    /// A binary value; the bytes are copied.
    static Value binary(byte[] bytes) {
        return new Binary(Bytes.copyOf(bytes));
    }
}
