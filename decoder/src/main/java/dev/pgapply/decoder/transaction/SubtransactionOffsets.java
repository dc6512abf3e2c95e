package dev.pgapply.decoder.transaction;

import java.util.Arrays;

/// Where the first change of each subtransaction is, in the order of these places.
///
/// Subtransactions nest, so what comes after the first change of one that is rolled back was done inside it, or
/// inside what is rolled back with it: cutting there forgets all of them, in whatever order their aborts
/// arrive.
///
/// There may be millions (one for each exception block that a loop enters), so finding one takes constant time,
/// and all of them some 20 to 30 bytes each.
final class SubtransactionOffsets {

    private static final int SMALLEST_CAPACITY = 4;
    /// Spreads neighbouring ids over the table (2^32 divided by the golden ratio).
    private static final int HASH_MULTIPLIER = 0x9E3779B9;

    private int[] xids = new int[SMALLEST_CAPACITY];
    private long[] offsets = new long[SMALLEST_CAPACITY];
    private int count;
    /// Open addressing: an index plus one, or 0. An index that was cut stays until the table is made anew, and
    /// is known by lying beyond the count or belonging to another id by then.
    private int[] table = new int[4 * SMALLEST_CAPACITY];

    private int tableUsed;

    /// Remembers where the subtransaction begins, if it has not begun before.
    void begins(int xid, long offset) {
        if (find(xid) >= 0) {
            return;
        }
        if (count == xids.length) {
            int capacity = Math.multiplyExact(count, 2);
            xids = Arrays.copyOf(xids, capacity);
            offsets = Arrays.copyOf(offsets, capacity);
        }
        xids[count] = xid;
        offsets[count] = offset;
        count++;
        if (2 * (tableUsed + 1) > table.length) {
            makeTableAnew();
        } else {
            enter(count - 1);
        }
    }

    /// Forgets the subtransaction and all that began after it.
    ///
    /// @return where it began, or -1 if it is not known
    long cut(int xid) {
        int index = find(xid);
        if (index < 0) {
            return -1;
        }
        count = index;
        return offsets[index];
    }

    /// How much heap this holds.
    long allocatedBytes() {
        return 4L * xids.length + 8L * offsets.length + 4L * table.length;
    }

    private int find(int xid) {
        for (int slot = slot(xid); table[slot] != 0; slot = slot + 1 & table.length - 1) {
            int index = table[slot] - 1;
            if (index < count && xids[index] == xid) {
                return index;
            }
        }
        return -1;
    }

    private void enter(int index) {
        int slot = slot(xids[index]);
        while (table[slot] != 0) {
            slot = slot + 1 & table.length - 1;
        }
        table[slot] = index + 1;
        tableUsed++;
    }

    private void makeTableAnew() {
        table = new int[4 * xids.length];
        tableUsed = 0;
        for (int index = 0; index < count; index++) {
            enter(index);
        }
    }

    private int slot(int xid) {
        return (xid * HASH_MULTIPLIER) >>> (Integer.numberOfLeadingZeros(table.length) + 1);
    }
}
