package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.io.OutputStream;

/// The messages of a round on their way out: collected in one buffer, written when it is full or the round
/// ends.
///
/// A value that is larger than the buffer goes from the caller's array to the socket without a copy. Not
/// thread-safe.
final class PipelineOutput {

    /// What the JDK's socket takes in one system call.
    static final int BUFFER_BYTES = 128 * 1024;

    private static final int NONE = -1;
    private static final int HEADER_BYTES = 5;

    private final OutputStream stream;
    private final Runnable beforeOverflow;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;

    /// The lowest position in the buffer that lies between two messages; none while the only message in it
    /// began before.
    private int boundary;

    private boolean inMessage;
    private int openCopyData = NONE;

    /// @param beforeOverflow runs before each write that is not the round's last
    PipelineOutput(OutputStream stream, Runnable beforeOverflow) {
        this.stream = stream;
        this.beforeOverflow = beforeOverflow;
    }

    /// Bytes not written yet.
    int pending() {
        return position;
    }

    /// @param length as the protocol counts it: with its own four bytes, without the type
    void start(char type, int length) throws IOException {
        ensure(HEADER_BYTES);
        inMessage = true;
        buffer[position++] = (byte) type;
        int32(length);
    }

    void end() {
        inMessage = false;
        if (boundary == NONE) {
            boundary = position;
        }
    }

    void int8(int value) throws IOException {
        ensure(1);
        buffer[position++] = (byte) value;
    }

    void int16(int value) throws IOException {
        ensure(2);
        buffer[position++] = (byte) (value >>> 8);
        buffer[position++] = (byte) value;
    }

    void int32(int value) throws IOException {
        ensure(4);
        int32At(position, value);
        position += 4;
    }

    void bytes(byte[] source, int offset, int length) throws IOException {
        if (length > buffer.length - position) {
            overflow();
            if (length > buffer.length) {
                stream.write(source, offset, length);
                return;
            }
        }
        System.arraycopy(source, offset, buffer, position, length);
        position += length;
    }

    void bytes(byte[] source) throws IOException {
        bytes(source, 0, source.length);
    }

    /// Appends to the CopyData message at the buffer's end, or begins the next one.
    void copyData(byte[] source, int offset, int length) throws IOException {
        int from = offset;
        int left = length;
        while (left > 0) {
            if (openCopyData == NONE) {
                ensure(HEADER_BYTES + 1);
                openCopyData = position;
                position += HEADER_BYTES;
            }
            int part = Math.min(left, buffer.length - position);
            System.arraycopy(source, from, buffer, position, part);
            position += part;
            from += part;
            left -= part;
            if (position == buffer.length) {
                overflow();
            }
        }
    }

    void endCopyData() {
        if (openCopyData != NONE) {
            buffer[openCopyData] = 'd';
            int32At(openCopyData + 1, position - openCopyData - 1);
            openCopyData = NONE;
        }
    }

    /// Writes what is left.
    void flush() throws IOException {
        endCopyData();
        stream.write(buffer, 0, position);
        position = 0;
        boundary = inMessage ? NONE : 0;
        stream.flush();
    }

    /// Drops all whole messages that are not written yet; the rest of a message whose beginning is written
    /// stays.
    void discard() {
        openCopyData = NONE;
        if (boundary != NONE) {
            position = boundary;
        }
    }

    private void ensure(int bytes) throws IOException {
        if (bytes > buffer.length - position) {
            overflow();
        }
    }

    private void overflow() throws IOException {
        beforeOverflow.run();
        flush();
    }

    private void int32At(int at, int value) {
        buffer[at] = (byte) (value >>> 24);
        buffer[at + 1] = (byte) (value >>> 16);
        buffer[at + 2] = (byte) (value >>> 8);
        buffer[at + 3] = (byte) value;
    }
}
