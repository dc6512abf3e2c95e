package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.OldRow;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What the changes of one table come to, per key, since the last barrier. Pure: no SQL, no connection.
///
/// Keys are compared as the bytes that came, so their types must be such that equal values have equal bytes. A
/// table without such a key is given as one without key columns: its inserts are collected, everything else is a
/// barrier. Writing the deletes first, then the updates, then the inserts leaves what the changes one by one
/// would have left, if the rows that are looked for are there and those that are inserted are not.
final class NetChanges {

    /// What became of a change that was offered.
    enum Outcome {
        /// It is part of the set.
        JOINED,
        /// It cannot be: what is collected has to be written first, then this change by itself.
        BARRIER,
        /// It does not follow from what came before, for instance the second insert of a key.
        DOUBT
    }

    /// What a key's changes come to.
    enum Net {
        INSERT,
        UPDATE,
        DELETE,
        /// Inserted and deleted again: nothing is to be done, if the key was not there.
        PROBE,
        /// Deleted, then inserted.
        REPLACE
    }

    private static final Net[] NETS = Net.values();
    private static final int FREE = -1;
    private static final int FIRST_CAPACITY = 64;

    /// Beyond it memory is given back when the changes are written: there may be thousands of tables.
    private static final int KEPT_CAPACITY = 1024;

    private final int[] keyColumns;
    private final byte[] keyKinds;

    private int size;
    private int[] hashes = new int[FIRST_CAPACITY];
    private byte[] nets = new byte[FIRST_CAPACITY];
    private @Nullable Row[] keys = new @Nullable Row[FIRST_CAPACITY];
    private @Nullable Row[] rows = new @Nullable Row[FIRST_CAPACITY];
    private int[] slots = emptySlots(2 * FIRST_CAPACITY);

    /// @param keyColumns positions in the rows; empty if nothing can be reduced
    NetChanges(int... keyColumns) {
        this.keyColumns = keyColumns.clone();
        this.keyKinds = new byte[keyColumns.length];
    }

    private static int[] emptySlots(int length) {
        int[] slots = new int[length];
        Arrays.fill(slots, FREE);
        return slots;
    }

    /// How many keys have changed.
    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    Net net(int entry) {
        return NETS[nets[entry]];
    }

    /// The row by which the entry's key is found in the table: its key columns hold it.
    Row key(int entry) {
        return required(keys[entry]);
    }

    /// The values to write: of an INSERT or REPLACE all, of an UPDATE those that are not [Row#UNCHANGED].
    Row row(int entry) {
        return required(rows[entry]);
    }

    private static Row required(@Nullable Row row) {
        if (row == null) {
            throw new IllegalStateException("the entry has no such row");
        }
        return row;
    }

    Outcome insert(NewRow newRow) {
        Row row = newRow.row();
        if (row.hasUnchanged()) {
            return Outcome.DOUBT;
        }
        if (keyColumns.length == 0) {
            append(0, row, row, Net.INSERT);
            return Outcome.JOINED;
        }
        if (!isWhole(row)) {
            return Outcome.DOUBT;
        }
        if (!hasKindsOfBefore(row)) {
            return Outcome.BARRIER;
        }
        int hash = hash(row);
        int entry = find(hash, row);
        if (entry == FREE) {
            enter(hash, row, row, Net.INSERT);
            return Outcome.JOINED;
        }
        return switch (net(entry)) {
            case DELETE -> become(entry, Net.REPLACE, row);
            case PROBE -> become(entry, Net.INSERT, row);
            case INSERT, UPDATE, REPLACE -> Outcome.DOUBT;
        };
    }

    Outcome update(Optional<OldRow> old, NewRow newRow) {
        if (keyColumns.length == 0) {
            return Outcome.BARRIER;
        }
        Row row = newRow.row();
        Row key = old.isPresent() ? old.get().row() : row;
        if (!isWhole(key)) {
            return Outcome.DOUBT;
        }
        if (!hasKindsOfBefore(key) || (old.isPresent() && changesKey(key, row))) {
            return Outcome.BARRIER;
        }
        int hash = hash(key);
        int entry = find(hash, key);
        if (entry == FREE) {
            enter(hash, key, row, Net.UPDATE);
            return Outcome.JOINED;
        }
        return switch (net(entry)) {
            case INSERT, UPDATE, REPLACE -> become(entry, net(entry), over(row(entry), row));
            case DELETE, PROBE -> Outcome.DOUBT;
        };
    }

    Outcome delete(OldRow old) {
        if (keyColumns.length == 0) {
            return Outcome.BARRIER;
        }
        Row key = old.row();
        if (!isWhole(key)) {
            return Outcome.DOUBT;
        }
        if (!hasKindsOfBefore(key)) {
            return Outcome.BARRIER;
        }
        int hash = hash(key);
        int entry = find(hash, key);
        if (entry == FREE) {
            enter(hash, key, null, Net.DELETE);
            return Outcome.JOINED;
        }
        return switch (net(entry)) {
            case INSERT -> become(entry, Net.PROBE, null);
            case UPDATE, REPLACE -> become(entry, Net.DELETE, null);
            case DELETE, PROBE -> Outcome.DOUBT;
        };
    }

    /// Whether an update moves its row to another key. That old values were sent does not mean so.
    boolean changesKey(Row old, Row row) {
        for (int column : keyColumns) {
            if (row.kind(column) != Row.UNCHANGED && !row.sameBytes(column, old, column)) {
                return true;
            }
        }
        return false;
    }

    /// Begins anew, behind a barrier.
    void clear() {
        if (nets.length > KEPT_CAPACITY) {
            hashes = new int[FIRST_CAPACITY];
            nets = new byte[FIRST_CAPACITY];
            keys = new @Nullable Row[FIRST_CAPACITY];
            rows = new @Nullable Row[FIRST_CAPACITY];
            slots = emptySlots(2 * FIRST_CAPACITY);
        } else {
            Arrays.fill(keys, 0, size, null);
            Arrays.fill(rows, 0, size, null);
            Arrays.fill(slots, FREE);
        }
        size = 0;
    }

    private boolean isWhole(Row row) {
        for (int column : keyColumns) {
            byte kind = row.kind(column);
            if (kind != Row.TEXT && kind != Row.BINARY) {
                return false;
            }
        }
        return true;
    }

    /// The same value in text and in binary would be two keys.
    private boolean hasKindsOfBefore(Row row) {
        for (int i = 0; i < keyColumns.length; i++) {
            byte kind = row.kind(keyColumns[i]);
            if (size == 0) {
                keyKinds[i] = kind;
            } else if (keyKinds[i] != kind) {
                return false;
            }
        }
        return true;
    }

    private Outcome become(int entry, Net net, @Nullable Row row) {
        nets[entry] = (byte) net.ordinal();
        rows[entry] = row;
        return Outcome.JOINED;
    }

    /// The newer values, and the older ones where the newer were not sent.
    private static Row over(Row before, Row after) {
        if (!after.hasUnchanged()) {
            return after;
        }
        List<Value> values = new ArrayList<>(after.columnCount());
        for (int i = 0; i < after.columnCount(); i++) {
            values.add((after.kind(i) == Row.UNCHANGED ? before : after).value(i));
        }
        return Row.of(values);
    }

    private int hash(Row row) {
        byte[] bytes = row.bytes();
        int hash = 1;
        for (int column : keyColumns) {
            int offset = row.offset(column);
            int end = offset + row.length(column);
            for (int i = offset; i < end; i++) {
                hash = 31 * hash + bytes[i];
            }
            hash = 31 * hash + end - offset;
        }
        hash *= 0x9E3779B9;
        return hash ^ hash >>> 15;
    }

    private int find(int hash, Row row) {
        int mask = slots.length - 1;
        for (int slot = hash & mask; slots[slot] != FREE; slot = (slot + 1) & mask) {
            int entry = slots[slot];
            if (hashes[entry] == hash && sameKey(key(entry), row)) {
                return entry;
            }
        }
        return FREE;
    }

    private boolean sameKey(Row one, Row other) {
        for (int column : keyColumns) {
            if (!one.sameBytes(column, other, column)) {
                return false;
            }
        }
        return true;
    }

    private void enter(int hash, Row key, @Nullable Row row, Net net) {
        int entry = append(hash, key, row, net);
        if (2 * size > slots.length) {
            slots = emptySlots(2 * slots.length);
            for (int i = 0; i < entry; i++) {
                occupy(hashes[i], i);
            }
        }
        occupy(hash, entry);
    }

    private void occupy(int hash, int entry) {
        int mask = slots.length - 1;
        int slot = hash & mask;
        while (slots[slot] != FREE) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = entry;
    }

    private int append(int hash, Row key, @Nullable Row row, Net net) {
        if (size == nets.length) {
            int capacity = 2 * size;
            hashes = Arrays.copyOf(hashes, capacity);
            nets = Arrays.copyOf(nets, capacity);
            keys = Arrays.copyOf(keys, capacity);
            rows = Arrays.copyOf(rows, capacity);
        }
        hashes[size] = hash;
        nets[size] = (byte) net.ordinal();
        keys[size] = key;
        rows[size] = row;
        return size++;
    }
}
