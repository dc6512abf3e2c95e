package dev.pgapply.decoder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/// The values of one row (`TupleData`) as they came: a slice of the message and the place of each value in it.
///
/// Lengths and kinds were checked when the row was made, so no accessor can leave the slice. A row is immutable
/// and keeps the array of its message reachable. Columns count from zero, in the order of [Relation#columns()];
/// an index outside throws [IndexOutOfBoundsException]. Printing shows kinds and sizes, never values.
public final class Row {

    /// SQL NULL; in a [OldRow.Key] also the filler of a column outside the key.
    public static final byte NULL = 'n';
    /// An out-of-line value that the UPDATE did not change and the source did not send.
    public static final byte UNCHANGED = 'u';
    /// Output of the type's text function, UTF-8.
    public static final byte TEXT = 't';
    /// Output of the type's send function.
    public static final byte BINARY = 'b';

    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN)
            .withInvokeExactBehavior();

    /// Object header and fields of a row and of its offsets, and the header of the message's array.
    private static final int OVERHEAD_BYTES = 72;

    private final byte[] bytes;
    private final int start;
    private final int end;
    /// Where the kind byte of each column is; length and value follow it.
    private final int[] kindOffsets;

    private final boolean unchanged;

    /// The slice begins with the column count and has been validated by the caller.
    Row(byte[] bytes, int start, int end, int[] kindOffsets, boolean unchanged) {
        this.bytes = bytes;
        this.start = start;
        this.end = end;
        this.kindOffsets = kindOffsets;
        this.unchanged = unchanged;
    }

    /// A row of these values, for rows that are put together from several and for tests.
    public static Row of(List<? extends Value> values) {
        int size = 2;
        for (Value value : values) {
            size = Math.addExact(
                    size,
                    switch (value) {
                        case Value.Null ignored -> 1;
                        case Value.Unchanged ignored -> 1;
                        case Value.Text text -> 5 + text.bytes().length();
                        case Value.Binary binary -> 5 + binary.bytes().length();
                    });
        }
        ByteBuffer out = ByteBuffer.allocate(size).putShort((short) values.size());
        int[] kindOffsets = new int[values.size()];
        boolean unchanged = false;
        for (int i = 0; i < kindOffsets.length; i++) {
            kindOffsets[i] = out.position();
            switch (values.get(i)) {
                case Value.Null ignored -> out.put(NULL);
                case Value.Unchanged ignored -> {
                    out.put(UNCHANGED);
                    unchanged = true;
                }
                case Value.Text text -> put(out, TEXT, text.bytes());
                case Value.Binary binary -> put(out, BINARY, binary.bytes());
            }
        }
        return new Row(out.array(), 0, size, kindOffsets, unchanged);
    }

    private static void put(ByteBuffer out, byte kind, Bytes value) {
        out.put(kind).putInt(value.length()).put(value.array(), value.offset(), value.length());
    }

    public int columnCount() {
        return kindOffsets.length;
    }

    /// One of [#NULL], [#UNCHANGED], [#TEXT], [#BINARY].
    public byte kind(int column) {
        return bytes[kindOffsets[column]];
    }

    /// Where the value begins in [#bytes()]; meaningful for [#TEXT] and [#BINARY].
    public int offset(int column) {
        return kindOffsets[column] + 5;
    }

    /// How many bytes the value has; 0 for [#NULL] and [#UNCHANGED].
    public int length(int column) {
        int kindOffset = kindOffsets[column];
        return hasBytes(bytes[kindOffset]) ? (int) INT32.get(bytes, kindOffset + 1) : 0;
    }

    /// The array that holds the values, shared and not to be modified.
    public byte[] bytes() {
        return bytes;
    }

    /// Whether any column is [#UNCHANGED].
    public boolean hasUnchanged() {
        return unchanged;
    }

    /// Whether two columns have the same kind and the same bytes. Equal bytes of one type mean equal values,
    /// the reverse does not hold (`1.0` and `1.00`); two [#UNCHANGED] compare as the same though nothing is
    /// known of either.
    public boolean sameBytes(int column, Row other, int otherColumn) {
        byte kind = kind(column);
        if (kind != other.kind(otherColumn)) {
            return false;
        }
        if (!hasBytes(kind)) {
            return true;
        }
        int from = offset(column);
        int otherFrom = other.offset(otherColumn);
        return Arrays.equals(
                bytes, from, from + length(column), other.bytes, otherFrom, otherFrom + other.length(otherColumn));
    }

    /// About how much heap the row keeps reachable, counting its own slice of the message only.
    public long retainedBytes() {
        return OVERHEAD_BYTES + (long) (end - start) + 4L * kindOffsets.length;
    }

    /// The column as an object that shares the row's array.
    public Value value(int column) {
        return switch (kind(column)) {
            case NULL -> Value.NULL;
            case UNCHANGED -> Value.UNCHANGED;
            case TEXT -> new Value.Text(new Bytes(bytes, offset(column), length(column)));
            case BINARY -> new Value.Binary(new Bytes(bytes, offset(column), length(column)));
            default -> throw new IllegalStateException("a row holds a kind that was not validated");
        };
    }

    private static boolean hasBytes(byte kind) {
        return kind == TEXT || kind == BINARY;
    }

    /// Rows are equal if all kinds and bytes are.
    @Override
    public boolean equals(Object other) {
        return other instanceof Row row && Arrays.equals(bytes, start, end, row.bytes, row.start, row.end);
    }

    @Override
    public int hashCode() {
        return new Bytes(bytes, start, end - start).hashCode();
    }

    @Override
    public String toString() {
        StringBuilder kinds = new StringBuilder("Row[");
        for (int kindOffset : kindOffsets) {
            kinds.append((char) bytes[kindOffset]);
        }
        return kinds.append(", ").append(end - start).append(" bytes]").toString();
    }
}
