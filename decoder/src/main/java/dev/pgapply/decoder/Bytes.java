package dev.pgapply.decoder;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/// A slice of a byte array that nobody changes; two are equal if their contents are.
///
/// The array may be shared with the message that the slice came from. Printing shows the length alone, since
/// the contents may be a cell's value.
public final class Bytes {

    private final byte[] array;
    private final int offset;
    private final int length;

    Bytes(byte[] array, int offset, int length) {
        this.array = array;
        this.offset = offset;
        this.length = length;
    }

    /// A copy of these bytes.
    public static Bytes copyOf(byte[] bytes) {
        return new Bytes(bytes.clone(), 0, bytes.length);
    }

    /// The UTF-8 form of a text.
    public static Bytes utf8(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        return new Bytes(encoded, 0, encoded.length);
    }

    /// The shared array, not to be modified; the slice is [#offset()] and [#length()].
    public byte[] array() {
        return array;
    }

    /// Where the slice begins in [#array()].
    public int offset() {
        return offset;
    }

    public int length() {
        return length;
    }

    /// The byte at an index of the slice.
    public byte at(int index) {
        return array[offset + Objects.checkIndex(index, length)];
    }

    /// A copy that belongs to the caller.
    public byte[] toByteArray() {
        return Arrays.copyOfRange(array, offset, offset + length);
    }

    /// The slice read as UTF-8, the client encoding of our connections; malformed sequences are replaced.
    public String utf8() {
        return new String(array, offset, length, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes b
                && Arrays.equals(array, offset, offset + length, b.array, b.offset, b.offset + b.length);
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = offset; i < offset + length; i++) {
            hash = 31 * hash + array[i];
        }
        return hash;
    }

    @Override
    public String toString() {
        return length + " bytes";
    }
}
