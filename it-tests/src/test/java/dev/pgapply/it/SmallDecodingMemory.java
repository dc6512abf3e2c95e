package dev.pgapply.it;

import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Streaming.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// Makes a source stream transactions that are small, and tells whether it has: a test that streams nothing
/// shows nothing.
final class SmallDecodingMemory {

    private final Replication replication;

    private SmallDecodingMemory(Replication replication) {
        this.replication = replication;
    }

    /// What `--streaming` is in the tests that compare the ways.
    static List<Mode> modes() {
        return List.of(Mode.ON, Mode.PARALLEL);
    }

    /// From some hundred rows on.
    static SmallDecodingMemory of64Kilobytes(Replication replication) {
        return with(replication, "logical_decoding_work_mem = '64kB'");
    }

    /// From the first row on, where the server can be told so (16 or newer).
    static SmallDecodingMemory none(Replication replication) {
        return with(replication, "debug_logical_replication_streaming = immediate");
    }

    private static SmallDecodingMemory with(Replication replication, String setting) {
        TestDatabase source = replication.source();
        source.execute("ALTER DATABASE " + source.name() + " SET " + setting);
        return new SmallDecodingMemory(replication);
    }

    /// How many transactions the source has streamed to this subscription, open ones included.
    long streamed() {
        return replication
                .source()
                .query("SELECT stream_txns FROM pg_stat_replication_slots WHERE slot_name = 'pgapply_"
                        + replication.name() + "'")
                .map(Long::parseLong)
                .orElse(0L);
    }

    /// Waits until one more than so many have been streamed.
    void awaitStreamed(long before) {
        Await.until("the source has streamed more than " + before + " transactions", () -> streamed() > before);
    }

    /// Streaming with little memory, so that spool files are written.
    static Subscription.Streaming spooling(Mode mode, Path directory) {
        return new Subscription.Streaming(
                java.util.Optional.of(mode),
                Subscription.Streaming.DEFAULT.parallelStreams(),
                directory,
                4096,
                Long.MAX_VALUE,
                Subscription.Streaming.SpoolFull.STOP);
    }

    /// The spool files in a directory, without their owners' locks.
    static List<Path> spoolFiles(Path directory) {
        return files(directory, ".spool");
    }

    /// Everything of pgapply's in a directory.
    static List<Path> files(Path directory, String suffix) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().endsWith(suffix))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
