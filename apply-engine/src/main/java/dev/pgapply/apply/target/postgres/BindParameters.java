package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The parameter values of one execution, held as places in the caller's arrays until the Bind message is
/// written.
final class BindParameters {

    /// The protocol counts parameters in 16 bits.
    static final int MAX_PARAMETERS = 65_535;

    private static final int NULL_LENGTH = -1;
    private static final byte NO_FORMAT = -1;

    private int expected;
    private int given;
    private byte[] formats = new byte[32];
    private byte[] @Nullable [] values = new byte[32] @Nullable [];
    private int[] offsets = new int[32];
    private int[] lengths = new int[32];

    private long valueBytes;

    /// The format of all values so far, if they have only one.
    private byte commonFormat;

    private boolean mixed;

    /// @throws IllegalArgumentException for more than [#MAX_PARAMETERS]
    void begin(int count) {
        if (count < 0 || count > MAX_PARAMETERS) {
            throw new IllegalArgumentException(
                    "a statement has at most " + MAX_PARAMETERS + " parameters, not " + count);
        }
        if (count > lengths.length) {
            formats = new byte[count];
            values = new byte[count] @Nullable [];
            offsets = new int[count];
            lengths = new int[count];
        }
        expected = count;
        given = 0;
        valueBytes = 0;
        commonFormat = NO_FORMAT;
        mixed = false;
    }

    void addNull() {
        int i = next();
        lengths[i] = NULL_LENGTH;
        // What was bound for a statement that was never sent may still be here.
        values[i] = null;
    }

    void add(byte format, byte[] bytes, int offset, int length) {
        int i = next();
        formats[i] = format;
        values[i] = bytes;
        offsets[i] = offset;
        lengths[i] = length;
        valueBytes += length;
        mixed |= commonFormat != NO_FORMAT && commonFormat != format;
        commonFormat = format;
    }

    private int next() {
        if (given == expected) {
            throw new IllegalStateException("the statement was bound with " + expected + " parameters");
        }
        return given++;
    }

    void requireComplete() {
        if (given != expected) {
            throw new IllegalStateException(given + " of " + expected + " parameters were given");
        }
    }

    /// The Bind message's length as the protocol counts it.
    ///
    /// @param name of the statement, with its zero byte
    long messageLength(byte[] name) {
        long formatCodes = mixed ? expected : 1;
        return 4 + 1 + name.length + 2 + 2 * formatCodes + 2 + 4L * expected + valueBytes + 2 + 2;
    }

    /// Writes a Bind message for the unnamed portal.
    void write(PipelineOutput output, byte[] name, byte resultFormat) throws IOException {
        output.start('B', (int) messageLength(name));
        output.int8(0);
        output.bytes(name);
        if (mixed) {
            output.int16(expected);
            for (int i = 0; i < expected; i++) {
                output.int16(lengths[i] == NULL_LENGTH ? Pipeline.TEXT : formats[i]);
            }
        } else {
            output.int16(1);
            output.int16(commonFormat == NO_FORMAT ? Pipeline.TEXT : commonFormat);
        }
        output.int16(expected);
        for (int i = 0; i < expected; i++) {
            output.int32(lengths[i]);
            byte[] value = values[i];
            if (value != null) {
                output.bytes(value, offsets[i], lengths[i]);
            }
        }
        output.int16(1);
        output.int16(resultFormat);
        output.end();
        clear();
    }

    /// Lets the caller's arrays go.
    void clear() {
        Arrays.fill(values, 0, given, null);
        given = 0;
        expected = 0;
    }
}
