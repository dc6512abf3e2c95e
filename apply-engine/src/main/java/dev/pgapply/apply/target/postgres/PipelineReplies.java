package dev.pgapply.apply.target.postgres;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.ServerErrorMessage;

/// Reads what the server answers to one round, and keeps of it the row counts, the first error and the rows
/// asked for.
///
/// One thread reads a round: the pipeline's own, or one made for the round. The pipeline looks at the results
/// only after that thread has ended; only [#failed] and [#collect] are for the time in between.
///
/// Source: PostgreSQL documentation, "Message Formats".
final class PipelineReplies {

    /// The server sends nothing larger.
    private static final int MAX_MESSAGE_BYTES = 0x3fff_ffff;

    private static final int MAX_COMMAND_TAG_BYTES = 1024;
    private static final int MAX_ERROR_FIELD_BYTES = 8 * 1024;
    private static final int MAX_ERROR_BYTES = 64 * 1024;

    private final InputStream stream;
    private final byte[] buffer = new byte[16 * 1024];
    private int position;
    private int limit;

    private final Map<Integer, QueryRows> collected = new ConcurrentHashMap<>();
    private long[] affected = new long[256];
    private int completed;
    private int parsed;
    private int closed;
    private char transactionStatus = 'I';
    private @Nullable ServerErrorMessage error;
    private @Nullable ServerErrorMessage lastWords;
    private boolean ready;
    private boolean lastWasFatal;

    // Written by the thread that reads the round, read by the pipeline's.
    private volatile boolean failed;

    PipelineReplies(InputStream stream) {
        this.stream = stream;
    }

    void begin() {
        completed = 0;
        parsed = 0;
        closed = 0;
        error = null;
        failed = false;
        ready = false;
        collected.clear();
    }

    /// Before the statement is sent.
    void collect(int index) {
        collected.put(index, new QueryRows());
    }

    /// Whether the server has refused a statement of this round, and so ignores what is sent up to its end.
    boolean failed() {
        return failed;
    }

    @Nullable
    ServerErrorMessage error() {
        return error;
    }

    /// Why the server ended the connection, if it said so.
    @Nullable
    ServerErrorMessage lastWords() {
        return lastWords;
    }

    int completed() {
        return completed;
    }

    int parsed() {
        return parsed;
    }

    int closed() {
        return closed;
    }

    long affected(int index) {
        return affected[index];
    }

    @Nullable
    QueryRows rows(int index) {
        return collected.get(index);
    }

    char transactionStatus() {
        return transactionStatus;
    }

    /// Reads to the round's ReadyForQuery, and beyond it whatever arrived together with it: the driver reads
    /// next, and must find the stream between two messages.
    ///
    /// @throws EOFException if the server has ended the connection
    /// @throws IOException if the connection is lost, or what comes is not the protocol
    void readRound() throws IOException {
        while (!ready || position < limit) {
            readMessage();
        }
    }

    private void readMessage() throws IOException {
        int type = readByte();
        int length = readInt32() - 4;
        switch (type) {
            case '1' -> parsed += empty(type, length);
            case '2', 'n', 's' -> empty(type, length);
            case '3' -> closed += empty(type, length);
            case 'I' -> complete(empty(type, length) - 1);
            case 'C' -> complete(readCommandTag(length));
            case 'D' -> readRow(length);
            case 'G', 'N', 'A', 'S' -> skip(checked(type, length, MAX_MESSAGE_BYTES));
            case 'E' -> readError(checked(type, length, MAX_MESSAGE_BYTES));
            case 'Z' -> readReady(length);
            default -> throw unexpected(type, length);
        }
    }

    private void complete(long rows) {
        if (completed == affected.length) {
            affected = Arrays.copyOf(affected, completed * 2);
        }
        affected[completed++] = rows;
    }

    private void readReady(int length) throws IOException {
        if (length != 1 || ready) {
            throw unexpected('Z', length);
        }
        transactionStatus = (char) readByte();
        ready = true;
    }

    /// The last word of a tag like `INSERT 0 5`; 0 if it is not a number.
    private long readCommandTag(int length) throws IOException {
        checked('C', length, MAX_COMMAND_TAG_BYTES);
        long number = 0;
        boolean digits = false;
        for (int i = 0; i < length; i++) {
            int c = readByte();
            if (c >= '0' && c <= '9') {
                number = digits ? number * 10 + (c - '0') : c - '0';
                digits = true;
            } else if (c != 0) {
                digits = false;
                number = 0;
            }
        }
        return number;
    }

    private void readRow(int length) throws IOException {
        checked('D', length, MAX_MESSAGE_BYTES);
        QueryRows rows = collected.get(completed);
        if (rows == null || !rows.hasRoom()) {
            skip(length);
            return;
        }
        int left = length - 2;
        int columns = left < 0 ? 0 : readByte() << 8 | readByte();
        if (left < columns * 4) {
            throw unexpected('D', length);
        }
        byte[] @Nullable [] row = new byte[columns] @Nullable [];
        for (int i = 0; i < columns; i++) {
            int size = readInt32();
            left -= 4;
            if (size > left || size < -1) {
                throw unexpected('D', length);
            }
            row[i] = size < 0 ? null : readBytes(size);
            left -= Math.max(size, 0);
        }
        if (left != 0) {
            throw unexpected('D', length);
        }
        rows.add(row);
    }

    private void readError(int length) throws IOException {
        ServerErrorMessage message = new ServerErrorMessage(readErrorFields(length));
        if (lastWasFatal) {
            lastWords = message;
            throw new EOFException("the server ended the connection");
        }
        if (ready) {
            throw unexpected('E', length);
        }
        if (error == null) {
            error = message;
        }
        failed = true;
    }

    /// The fields as the driver's own parser wants them, the long ones cut.
    private String readErrorFields(int length) throws IOException {
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        String severity = "";
        int left = length;
        while (left > 0 && kept.size() < MAX_ERROR_BYTES) {
            int field = readByte();
            left--;
            if (field == 0) {
                break;
            }
            kept.write(field);
            int from = kept.size();
            int c = -1;
            while (left > 0 && c != 0) {
                c = readByte();
                left--;
                if (c != 0 && kept.size() - from < MAX_ERROR_FIELD_BYTES) {
                    kept.write(c);
                }
            }
            if (field == 'V' || (field == 'S' && severity.isEmpty())) {
                severity = new String(kept.toByteArray(), from, kept.size() - from, StandardCharsets.UTF_8);
            }
            kept.write(0);
        }
        skip(left);
        lastWasFatal = severity.equals("FATAL") || severity.equals("PANIC");
        return kept.toString(StandardCharsets.UTF_8);
    }

    private static int empty(int type, int length) throws IOException {
        if (length != 0) {
            throw unexpected(type, length);
        }
        return 1;
    }

    private static int checked(int type, int length, int most) throws IOException {
        if (length < 0 || length > most) {
            throw unexpected(type, length);
        }
        return length;
    }

    private static IOException unexpected(int type, int length) {
        return new IOException("unexpected message from the target: type " + type + ", " + length + " bytes");
    }

    private int readByte() throws IOException {
        if (position == limit) {
            fill();
        }
        return buffer[position++] & 0xff;
    }

    private int readInt32() throws IOException {
        return readByte() << 24 | readByte() << 16 | readByte() << 8 | readByte();
    }

    /// The array grows with what arrives, not with what is announced.
    private byte[] readBytes(int length) throws IOException {
        byte[] bytes = new byte[Math.min(length, buffer.length)];
        int done = 0;
        while (done < length) {
            if (position == limit) {
                fill();
            }
            if (done == bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.min(length, done * 2L));
            }
            int part = Math.min(bytes.length - done, limit - position);
            System.arraycopy(buffer, position, bytes, done, part);
            position += part;
            done += part;
        }
        return bytes;
    }

    private void skip(int length) throws IOException {
        int left = length;
        while (left > 0) {
            if (position == limit) {
                fill();
            }
            int part = Math.min(left, limit - position);
            position += part;
            left -= part;
        }
    }

    private void fill() throws IOException {
        int read = stream.read(buffer, 0, buffer.length);
        if (read <= 0) {
            throw new EOFException("the server closed the connection");
        }
        position = 0;
        limit = read;
    }
}
