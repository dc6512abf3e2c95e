package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SubtransactionOffsetsTest {

    private static final long SEED = Long.getLong("pgapply.seed", System.nanoTime());

    private record Entry(int xid, long offset) {}

    @Test
    void behavesAsAListThatIsSearchedFromItsEnd() {
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            SubtransactionOffsets offsets = new SubtransactionOffsets();
            List<Entry> model = new ArrayList<>();
            // Near the wrap-around of transaction ids.
            int base = -random.nextInt(50);
            for (int step = 0; step < 300; step++) {
                int xid = base + random.nextInt(100);
                long offset = step;
                int index = indexOf(model, xid);
                if (random.nextInt(4) > 0) {
                    offsets.begins(xid, offset);
                    if (index < 0) {
                        model.add(new Entry(xid, offset));
                    }
                } else {
                    long expected = index < 0 ? -1 : model.get(index).offset();
                    assertEquals(expected, offsets.cut(xid), () -> "seed " + SEED);
                    if (index >= 0) {
                        model.subList(index, model.size()).clear();
                    }
                }
            }
        }
    }

    private static int indexOf(List<Entry> model, int xid) {
        for (int i = 0; i < model.size(); i++) {
            if (model.get(i).xid() == xid) {
                return i;
            }
        }
        return -1;
    }

    /// A loop with an exception block inside a savepoint: each turn writes in a new subtransaction and in the
    /// outer one.
    @Test
    void millionSubtransactionsTakeLinearTimeAndLittleMemory() {
        SubtransactionOffsets offsets = new SubtransactionOffsets();
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            offsets.begins(1, 0);
            for (int i = 0; i < 1_000_000; i++) {
                offsets.begins(i + 2, i);
                offsets.begins(1, i);
            }
            for (int i = 1_000_000; i > 0; i--) {
                offsets.cut(2_000_000 + i);
            }
            assertEquals(500_000, offsets.cut(500_002));
        });
        assertTrue(offsets.allocatedBytes() <= 30 * (1 << 20));
    }
}
