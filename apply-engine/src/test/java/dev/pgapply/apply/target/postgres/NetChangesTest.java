package dev.pgapply.apply.target.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.target.postgres.NetChanges.Net;
import dev.pgapply.apply.target.postgres.NetChanges.Outcome;
import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.OldRow;
import dev.pgapply.decoder.Row;
import dev.pgapply.decoder.Value;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Rows are written as texts: `1,a,~` is a key of 1, then `a`, then a value that was not sent; `-` is NULL.
final class NetChangesTest {

    private final NetChanges changes = new NetChanges(0);

    /// Letters: i insert, u update of one column, d delete.
    @ParameterizedTest
    @CsvSource({
        "i, INSERT",
        "u, UPDATE",
        "d, DELETE",
        "iu, INSERT",
        "iuu, INSERT",
        "id, PROBE",
        "iud, PROBE",
        "idi, INSERT",
        "uu, UPDATE",
        "ud, DELETE",
        "di, REPLACE",
        "diu, REPLACE",
        "did, DELETE",
        "udi, REPLACE",
        "didi, REPLACE"
    })
    void theChangesOfOneKeyComeToOne(String letters, Net net) {
        letters.chars().forEach(letter -> assertEquals(Outcome.JOINED, change((char) letter)));

        assertEquals(1, changes.size());
        assertEquals(net, changes.net(0));
    }

    @ParameterizedTest
    @CsvSource({"i, i", "u, i", "diu, i", "d, d", "d, u", "id, u", "id, d"})
    void whatDoesNotFollowIsADoubt(String letters, String last) {
        letters.chars().forEach(letter -> assertEquals(Outcome.JOINED, change((char) letter)));

        assertEquals(Outcome.DOUBT, change(last.charAt(0)));
    }

    private Outcome change(char letter) {
        return switch (letter) {
            case 'i' -> changes.insert(full("1,a,b"));
            case 'u' -> changes.update(Optional.empty(), partial("1,c,~"));
            case 'd' -> changes.delete(key("1,-,-"));
            default -> throw new IllegalArgumentException();
        };
    }

    @Test
    void updatesBecomeTheUnionOfWhatWasSent() {
        changes.update(Optional.empty(), partial("1,~,b"));
        changes.update(Optional.empty(), partial("1,a,~"));

        assertEquals(row("1,a,b"), changes.row(0));
    }

    @Test
    void anUnchangedValueNeverReplacesAKnownOne() {
        changes.insert(full("1,a,b"));
        changes.update(Optional.of(key("1,-,-")), partial("~,~,-"));

        assertEquals(row("1,a,-"), changes.row(0));
        assertEquals(Net.INSERT, changes.net(0));
    }

    @Test
    void anOldKeyThatIsTheSameIsNoChangeOfTheKey() {
        assertEquals(Outcome.JOINED, changes.update(Optional.of(key("1,-,-")), full("1,a,b")));
        assertEquals(Outcome.JOINED, changes.update(Optional.of(key("1,-,-")), partial("~,c,d")));

        assertEquals(1, changes.size());
    }

    @Test
    void aChangeOfTheKeyIsABarrier() {
        assertEquals(Outcome.BARRIER, changes.update(Optional.of(key("1,-,-")), full("2,a,b")));
        assertTrue(changes.isEmpty());
    }

    @Test
    void aWholeOldRowTellsTheKey() {
        OldRow.Full old = new OldRow.Full(row("1,a,b"));

        assertEquals(Outcome.JOINED, changes.update(Optional.of(old), full("1,c,b")));
        assertEquals(Outcome.BARRIER, changes.update(Optional.of(new OldRow.Full(row("1,c,b"))), full("3,c,b")));
        assertEquals(Outcome.JOINED, changes.delete(new OldRow.Full(row("1,c,b"))));
        assertEquals(Net.DELETE, changes.net(0));
    }

    @Test
    void aKeyInAnotherFormIsABarrier() {
        Row binary = Row.of(List.of(new Value.Binary(bytes("1")), text("a"), text("b")));
        changes.insert(full("1,a,b"));

        assertEquals(Outcome.BARRIER, changes.update(Optional.empty(), new NewRow.Full(binary)));
        changes.clear();
        assertEquals(Outcome.JOINED, changes.update(Optional.empty(), new NewRow.Full(binary)));
    }

    @Test
    void aKeyWithoutAValueIsADoubt() {
        assertEquals(Outcome.DOUBT, changes.insert(full("-,a,b")));
        assertEquals(Outcome.DOUBT, changes.update(Optional.empty(), partial("~,a,b")));
        assertEquals(Outcome.DOUBT, changes.delete(key("-,-,-")));
        assertEquals(Outcome.DOUBT, changes.insert(partial("1,~,b")), "an insert has all values");
    }

    @Test
    void severalKeyColumnsAreToldApartByTheirBorders() {
        NetChanges pairs = new NetChanges(0, 1);

        assertEquals(Outcome.JOINED, pairs.insert(full("12,3,x")));
        assertEquals(Outcome.JOINED, pairs.insert(full("1,23,x")));
        assertEquals(2, pairs.size());
        assertFalse(pairs.changesKey(row("1,2,3"), row("~,2,4")));
        assertTrue(pairs.changesKey(row("1,2,3"), row("~,3,3")));
    }

    @Test
    void withoutAKeyOnlyInsertsAreCollected() {
        NetChanges inserts = new NetChanges();

        assertEquals(Outcome.JOINED, inserts.insert(full("1,a,b")));
        assertEquals(Outcome.JOINED, inserts.insert(full("1,a,b")));
        assertEquals(Outcome.BARRIER, inserts.update(Optional.empty(), full("1,a,b")));
        assertEquals(Outcome.BARRIER, inserts.delete(key("1,a,b")));
        assertEquals(2, inserts.size());
    }

    /// Applies random changes to a model one by one, and their net to another.
    @Test
    void theNetLeavesWhatTheChangesOneByOneLeave() {
        long seeds = Long.getLong("pgapply.seeds", 300);
        long first = Long.getLong("pgapply.seed", System.nanoTime());
        for (long seed = first; seed < first + seeds; seed++) {
            runModel(seed);
        }
    }

    private static void runModel(long seed) {
        Random random = new Random(seed);
        Map<String, String[]> exact = new TreeMap<>();
        for (int i = 0; i < 20; i += 2) {
            exact.put("" + i, new String[] {"a" + i, "b" + i});
        }
        Map<String, String[]> net = new TreeMap<>();
        exact.forEach((key, values) -> net.put(key, values.clone()));
        NetChanges changes = new NetChanges(0);
        for (int i = 0; i < 200; i++) {
            String key = "" + random.nextInt(random.nextBoolean() ? 20 : 200);
            Outcome outcome = step(random, exact, changes, key, i);
            if (outcome == Outcome.BARRIER || random.nextInt(60) == 0) {
                write(changes, net, seed);
                changes.clear();
            }
            if (outcome == Outcome.BARRIER) {
                net.clear();
                exact.forEach((k, values) -> net.put(k, values.clone()));
            }
        }
        write(changes, net, seed);
        assertEquals(printed(exact), printed(net), "seed " + seed);
    }

    private static Outcome step(
            Random random, Map<String, String[]> table, NetChanges changes, String key, int number) {
        String[] values = table.get(key);
        if (values == null) {
            table.put(key, new String[] {"n" + number, "m" + number});
            return joined(changes.insert(full(key + ",n" + number + ",m" + number)));
        }
        if (random.nextInt(3) == 0) {
            table.remove(key);
            return joined(changes.delete(key(key + ",-,-")));
        }
        if (random.nextInt(20) == 0 && !table.containsKey("x" + number)) {
            table.put("x" + number, table.remove(key));
            assertEquals(
                    Outcome.BARRIER,
                    changes.update(
                            Optional.of(key(key + ",-,-")), full("x" + number + "," + values[0] + "," + values[1])));
            return Outcome.BARRIER;
        }
        String one = random.nextBoolean() ? "~" : "u" + number;
        String other = random.nextBoolean() ? "~" : "v" + number;
        table.put(key, new String[] {one.equals("~") ? values[0] : one, other.equals("~") ? values[1] : other});
        boolean withOld = random.nextBoolean();
        String text = (withOld && random.nextBoolean() ? "~" : key) + "," + one + "," + other;
        return joined(changes.update(withOld ? Optional.of(key(key + ",-,-")) : Optional.empty(), newRow(text)));
    }

    private static Outcome joined(Outcome outcome) {
        assertEquals(Outcome.JOINED, outcome);
        return outcome;
    }

    private static void write(NetChanges changes, Map<String, String[]> table, long seed) {
        for (int i = 0; i < changes.size(); i++) {
            if (changes.net(i) == Net.DELETE || changes.net(i) == Net.REPLACE) {
                assertTrue(table.remove(value(changes.key(i), 0)) != null, "seed " + seed);
            }
        }
        for (int i = 0; i < changes.size(); i++) {
            String key = value(changes.key(i), 0);
            switch (changes.net(i)) {
                case UPDATE -> {
                    Row row = changes.row(i);
                    String[] values = java.util.Objects.requireNonNull(table.get(key));
                    for (int column = 0; column < 2; column++) {
                        if (row.kind(column + 1) != Row.UNCHANGED) {
                            values[column] = value(row, column + 1);
                        }
                    }
                }
                case INSERT, REPLACE ->
                    assertEquals(
                            null,
                            table.put(key, new String[] {value(changes.row(i), 1), value(changes.row(i), 2)}),
                            "seed " + seed);
                case PROBE -> assertFalse(table.containsKey(key), "seed " + seed);
                case DELETE -> {}
            }
        }
    }

    private static List<String> printed(Map<String, String[]> table) {
        return table.entrySet().stream()
                .map(row -> row.getKey() + "=" + Arrays.toString(row.getValue()))
                .toList();
    }

    private static String value(Row row, int column) {
        return new String(row.bytes(), row.offset(column), row.length(column), StandardCharsets.UTF_8);
    }

    private static NewRow newRow(String text) {
        return text.contains("~") ? partial(text) : full(text);
    }

    private static NewRow full(String text) {
        return new NewRow.Full(row(text));
    }

    private static NewRow partial(String text) {
        return new NewRow.Partial(row(text));
    }

    private static OldRow key(String text) {
        return new OldRow.Key(row(text));
    }

    private static Row row(String text) {
        List<Value> values = new ArrayList<>();
        for (String value : text.split(",", -1)) {
            values.add(value.equals("~") ? Value.UNCHANGED : value.equals("-") ? Value.NULL : text(value));
        }
        return Row.of(values);
    }

    private static Value text(String value) {
        return new Value.Text(bytes(value));
    }

    private static Bytes bytes(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return Bytes.copyOf(bytes);
    }
}
