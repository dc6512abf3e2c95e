package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import java.nio.charset.StandardCharsets;

/// A one-dimensional array of values of one column, put together as the server takes it as a parameter: in
/// binary form from binary values, else in text form.
///
/// Source: `array_recv` and `array_in` of PostgreSQL.
final class ArrayParameter {

    private static final int HEADER_BYTES = 20;
    private static final byte[] TEXT_NULL = "NULL".getBytes(StandardCharsets.US_ASCII);

    private final ByteSink sink = new ByteSink();
    private int elements;
    private int elementOid;
    private boolean hasNulls;

    /// Of the values so far; [Row#NULL] while all are NULL.
    private byte kind = Row.NULL;

    void begin(int oid) {
        elementOid = oid;
        sink.begin(HEADER_BYTES);
        elements = 0;
        hasNulls = false;
        kind = Row.NULL;
    }

    /// Whether the value has the form of those before it.
    boolean takes(byte valueKind) {
        return kind == Row.NULL || valueKind == Row.NULL || kind == valueKind;
    }

    /// @param row has a value of a kind that [#takes] accepts in this column
    void add(Row row, int column) {
        byte valueKind = row.kind(column);
        if (valueKind == Row.NULL) {
            addNull();
            return;
        }
        if (kind == Row.NULL) {
            restart(valueKind);
        }
        if (valueKind == Row.BINARY) {
            // The length stands before the value in the message too.
            sink.bytes(row.bytes(), row.offset(column) - 4, row.length(column) + 4);
        } else {
            addText(row.bytes(), row.offset(column), row.length(column));
        }
        elements++;
    }

    /// The NULLs before the first value were only counted: their form was not known.
    private void restart(byte valueKind) {
        kind = valueKind;
        int nulls = elements;
        elements = 0;
        for (int i = 0; i < nulls; i++) {
            addNull();
        }
    }

    private void addNull() {
        hasNulls = true;
        if (kind == Row.BINARY) {
            sink.int32(-1);
        } else if (kind == Row.TEXT) {
            separate();
            sink.bytes(TEXT_NULL, 0, TEXT_NULL.length);
        }
        elements++;
    }

    private void separate() {
        sink.int8(elements == 0 ? '{' : ',');
    }

    private void addText(byte[] source, int offset, int size) {
        separate();
        sink.int8('"');
        for (int i = offset; i < offset + size; i++) {
            byte b = source[i];
            if (b == '"' || b == '\\') {
                sink.int8('\\');
            }
            sink.int8(b);
        }
        sink.int8('"');
    }

    /// Hands the array to the statement that is being bound. Nothing may be added until that is queued.
    void bind(Pipeline pipeline) {
        if (kind == Row.TEXT) {
            sink.int8('}');
            pipeline.parameter(Pipeline.TEXT, sink.array(), HEADER_BYTES, sink.length() - HEADER_BYTES);
            return;
        }
        if (kind == Row.NULL) {
            restart(Row.BINARY);
        }
        sink.int32At(0, 1);
        sink.int32At(4, hasNulls ? 1 : 0);
        sink.int32At(8, elementOid);
        sink.int32At(12, elements);
        sink.int32At(16, 1);
        pipeline.parameter(Pipeline.BINARY, sink.array(), 0, sink.length());
    }

    /// How much memory the values take.
    int length() {
        return sink.length();
    }

    void release() {
        sink.release();
    }
}
