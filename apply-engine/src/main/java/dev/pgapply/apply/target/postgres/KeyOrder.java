package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Row;
import java.util.Arrays;

/// Brings entries into about the order of their keys, so that one page of an index is visited once. Only speed
/// depends on it: the first key column decides, numbers by their value, everything else by its first bytes.
final class KeyOrder {

    /// As many digits surely fit into a long.
    private static final int MAX_DIGITS = 18;

    private KeyOrder() {}

    /// @param entries of `changes`; the array is sorted in place
    static void sort(NetChanges changes, int[] entries, int keyColumn) {
        int count = entries.length;
        long[] prefixes = new long[count];
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        boolean sorted = true;
        for (int i = 0; i < count; i++) {
            long prefix = prefix(changes.key(entries[i]), keyColumn);
            sorted &= i == 0 || prefix >= prefixes[i - 1];
            prefixes[i] = prefix;
            least = Math.min(least, prefix);
            most = Math.max(most, prefix);
        }
        if (sorted) {
            return;
        }
        int indexBits = Long.SIZE - Long.numberOfLeadingZeros(count);
        int rangeBits = Long.SIZE - Long.numberOfLeadingZeros(most - least);
        int dropped = Math.max(0, rangeBits + indexBits - (Long.SIZE - 1));
        for (int i = 0; i < count; i++) {
            prefixes[i] = (prefixes[i] - least) >>> dropped << indexBits | i;
        }
        Arrays.sort(prefixes);
        int[] before = entries.clone();
        long indexMask = (1L << indexBits) - 1;
        for (int i = 0; i < count; i++) {
            entries[i] = before[(int) (prefixes[i] & indexMask)];
        }
    }

    static long prefix(Row row, int column) {
        byte[] bytes = row.bytes();
        int offset = row.offset(column);
        int length = row.length(column);
        if (row.kind(column) == Row.TEXT && length > 0 && length <= MAX_DIGITS) {
            long number = 0;
            boolean negative = bytes[offset] == '-';
            int i = negative ? 1 : 0;
            while (i < length && bytes[offset + i] >= '0' && bytes[offset + i] <= '9') {
                number = 10 * number + bytes[offset + i] - '0';
                i++;
            }
            if (i == length) {
                return negative ? -number : number;
            }
        }
        boolean number = row.kind(column) == Row.BINARY && (length == 2 || length == 4 || length == 8);
        int size = number ? length : 8;
        long value = 0;
        for (int i = 0; i < size; i++) {
            int next = i < length ? bytes[offset + i] : 0;
            value = value << 8 | (number && i == 0 ? next : next & 0xff);
        }
        // Bytes are unsigned, and all but the last bit is enough.
        return number ? value : value >>> 1;
    }
}
