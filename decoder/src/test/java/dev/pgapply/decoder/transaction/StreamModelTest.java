package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.Row;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Random streams against what the simulated source has committed. `-Dpgapply.seeds=` says how many,
/// `-Dpgapply.seed=` names the first.
class StreamModelTest {

    private static final int STEPS = 400;
    private static final long[] MEMORY_BYTES = {0, 1, 5_000, 20_000, 100_000, Long.MAX_VALUE};

    private static int told;

    @TempDir
    Path directory;

    @AfterAll
    static void someWereToldOfWhileTheyWereOpen() {
        assertTrue(told > 0);
    }

    static LongStream seeds() {
        long first = Long.getLong("pgapply.seed", System.nanoTime());
        return LongStream.range(first, first + Integer.getInteger("pgapply.seeds", 100));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void subscriberSeesWhatWasCommitted(long seed) {
        Random random = new Random(seed);
        long memoryBytes = MEMORY_BYTES[random.nextInt(MEMORY_BYTES.length)];
        EarlyDelivery early = new EarlyDelivery(random.nextInt(4), random::nextBoolean);
        try (AssemblerRun run =
                new AssemblerRun(new SpoolSettings(directory, memoryBytes, Long.MAX_VALUE), Lsn.INVALID, early)) {
            SimulatedSource source = new SimulatedSource(random, run::receive);
            for (int i = 0; i < STEPS; i++) {
                source.step();
            }
            assertSame(source.expected(), seen(run.events()), "seed " + seed);
            assertEquals(0, run.assembler().ignoredAborts());
            told += run.told();
        }
        assertTrue(AssemblerRun.isEmpty(directory));
    }

    /// The first difference alone, since the whole is long.
    private static void assertSame(List<String> expected, List<String> seen, String where) {
        for (int i = 0; i < Math.min(expected.size(), seen.size()); i++) {
            assertEquals(expected.get(i), seen.get(i), where + ", event " + i);
        }
        assertEquals(expected.size(), seen.size(), where);
    }

    private static List<String> seen(List<TransactionEvent> events) {
        List<String> seen = new ArrayList<>();
        for (TransactionEvent event : events) {
            switch (event) {
                case TransactionEvent.Begin begin -> seen.add("begin " + Integer.toUnsignedString(begin.xid()));
                case Change.Insert insert -> seen.add(value(insert));
                case TransactionEvent.Commit ignored -> seen.add("commit");
                case TransactionEvent.Prepare ignored -> seen.add("prepare");
                case Change.Update other -> seen.add(other.toString());
                case Change.Delete other -> seen.add(other.toString());
                case Change.Truncate other -> seen.add(other.toString());
                case TransactionEvent.Message other -> seen.add(other.toString());
                case TransactionEvent.CommitPrepared other -> seen.add(other.toString());
                case TransactionEvent.RollbackPrepared other -> seen.add(other.toString());
                case TransactionEvent.Kept other -> seen.add(other.toString());
                case OpenTransaction other -> seen.add(other.toString());
            }
        }
        return seen;
    }

    /// The value, which begins with the name of the table in its version; the event must refer to that.
    private static String value(Change.Insert insert) {
        Row row = ((NewRow.Full) insert.newRow()).row();
        String value = new String(row.bytes(), row.offset(0), row.length(0), StandardCharsets.UTF_8);
        String name = insert.relation().name().name();
        return value.startsWith(name + " ") ? value : value + " came with " + name;
    }
}
