package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A one-dimensional array of values of one column, put together as the server takes it as a parameter: in
/// binary form from binary values, else in text form. The memory is used again for the next one.
final class ArrayParameter {

    private static final int FIRST_CAPACITY = 8 * 1024;
    private static final int KEPT_CAPACITY = 1 << 20;
    private static final int BINARY_HEADER_BYTES = 20;
    private static final byte[] TEXT_NULL = "NULL".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[FIRST_CAPACITY];
    private int length;
    private int elements;
    private int elementOid;
    private boolean hasNulls;

    /// Of the values so far; [Row#NULL] while all are NULL.
    private byte kind = Row.NULL;

    void begin(int elementOid) {
        this.elementOid = elementOid;
        if (bytes.length > KEPT_CAPACITY) {
            bytes = new byte[FIRST_CAPACITY];
        }
        // Room for either form's beginning.
        length = BINARY_HEADER_BYTES;
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
            kind = valueKind;
            restartWithNulls();
        }
        if (valueKind == Row.BINARY) {
            int size = row.length(column);
            ensure(size + 4);
            putInt(length, size);
            System.arraycopy(row.bytes(), row.offset(column), bytes, length + 4, size);
            length += size + 4;
        } else {
            addText(row.bytes(), row.offset(column), row.length(column));
        }
        elements++;
    }

    /// The NULLs before the first value were counted only: their form was not known.
    private void restartWithNulls() {
        int nulls = elements;
        elements = 0;
        for (int i = 0; i < nulls; i++) {
            addNull();
        }
    }

    private void addNull() {
        hasNulls = true;
        if (kind == Row.BINARY) {
            ensure(4);
            putInt(length, -1);
            length += 4;
        } else if (kind == Row.TEXT) {
            ensure(TEXT_NULL.length + 1);
            separate();
            System.arraycopy(TEXT_NULL, 0, bytes, length, TEXT_NULL.length);
            length += TEXT_NULL.length;
        }
        elements++;
    }

    private void separate() {
        bytes[length++] = (byte) (elements == 0 ? '{' : ',');
    }

    private void addText(byte[] source, int offset, int size) {
        ensure(2L * size + 3);
        separate();
        bytes[length++] = '"';
        for (int i = offset; i < offset + size; i++) {
            byte b = source[i];
            if (b == '"' || b == '\\') {
                bytes[length++] = '\\';
            }
            bytes[length++] = b;
        }
        bytes[length++] = '"';
    }

    /// Hands the array to the statement that is being bound. Nothing may be added until that is executed.
    void bind(Pipeline pipeline) {
        if (kind == Row.TEXT) {
            ensure(1);
            bytes[length++] = '}';
            pipeline.parameter(Pipeline.TEXT, bytes, BINARY_HEADER_BYTES, length - BINARY_HEADER_BYTES);
            return;
        }
        if (kind == Row.NULL) {
            kind = Row.BINARY;
            restartWithNulls();
        }
        putInt(0, 1);
        putInt(4, hasNulls ? 1 : 0);
        putInt(8, elementOid);
        putInt(12, elements);
        putInt(16, 1);
        pipeline.parameter(Pipeline.BINARY, bytes, 0, length);
    }

    /// How much memory the values take.
    int length() {
        return length;
    }

    private void ensure(long more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.max(2L * bytes.length, length + more)));
        }
    }

    private void putInt(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }
}
