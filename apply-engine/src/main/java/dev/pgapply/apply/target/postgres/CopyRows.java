package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import java.sql.SQLException;

/// Writes rows as the data of a COPY: in binary format from binary values, which only change places, or in text
/// format with its escapes.
///
/// Source: PostgreSQL documentation, COPY, "Text Format" and "Binary Format". Every client encoding that a
/// session of ours can have leaves ASCII bytes alone.
final class CopyRows {

    private static final byte[] HEADER = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TRAILER = {-1, -1};
    private static final int BUFFER_BYTES = 32 * 1024;

    private final Pipeline pipeline;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;

    CopyRows(Pipeline pipeline) {
        this.pipeline = pipeline;
    }

    /// Begins a COPY in binary format.
    void beginBinary(PreparedSql copy) throws SQLException {
        pipeline.copyIn(copy);
        position = 0;
        bytes(HEADER, 0, HEADER.length);
    }

    /// Begins a COPY in text format.
    void beginText(PreparedSql copy) throws SQLException {
        pipeline.copyIn(copy);
        position = 0;
    }

    /// Appends a row of binary values and NULLs.
    void binary(Row row, int[] columns) throws SQLException {
        ensure(2);
        buffer[position++] = (byte) (columns.length >>> 8);
        buffer[position++] = (byte) columns.length;
        byte[] source = row.bytes();
        for (int column : columns) {
            if (row.kind(column) == Row.NULL) {
                ensure(4);
                buffer[position++] = -1;
                buffer[position++] = -1;
                buffer[position++] = -1;
                buffer[position++] = -1;
            } else {
                // The length stands before the value in the message too.
                bytes(source, row.offset(column) - 4, row.length(column) + 4);
            }
        }
    }

    /// Appends a row of text values and NULLs.
    void text(Row row, int[] columns) throws SQLException {
        byte separator = 0;
        for (int column : columns) {
            ensure(3);
            if (separator != 0) {
                buffer[position++] = separator;
            }
            separator = '\t';
            if (row.kind(column) == Row.NULL) {
                buffer[position++] = '\\';
                buffer[position++] = 'N';
            } else {
                escaped(row.bytes(), row.offset(column), row.length(column));
            }
        }
        ensure(1);
        buffer[position++] = '\n';
    }

    /// Ends the COPY.
    ///
    /// @return its index in the round
    int end(boolean binary) throws SQLException {
        if (binary) {
            bytes(TRAILER, 0, TRAILER.length);
        }
        flush();
        return pipeline.copyDone(Pipeline.NO_TAG);
    }

    private void escaped(byte[] source, int offset, int length) throws SQLException {
        int end = offset + length;
        for (int i = offset; i < end; i++) {
            if (position > BUFFER_BYTES - 2) {
                flush();
            }
            byte b = source[i];
            byte escape = escape(b);
            if (escape != 0) {
                buffer[position++] = '\\';
                b = escape;
            }
            buffer[position++] = b;
        }
    }

    private static byte escape(byte b) {
        return switch (b) {
            case '\\' -> '\\';
            case '\n' -> 'n';
            case '\r' -> 'r';
            case '\t' -> 't';
            default -> 0;
        };
    }

    private void bytes(byte[] source, int offset, int length) throws SQLException {
        if (length > BUFFER_BYTES - position) {
            flush();
            if (length > BUFFER_BYTES) {
                pipeline.copyData(source, offset, length);
                return;
            }
        }
        System.arraycopy(source, offset, buffer, position, length);
        position += length;
    }

    private void ensure(int more) throws SQLException {
        if (more > BUFFER_BYTES - position) {
            flush();
        }
    }

    private void flush() throws SQLException {
        pipeline.copyData(buffer, 0, position);
        position = 0;
    }
}
