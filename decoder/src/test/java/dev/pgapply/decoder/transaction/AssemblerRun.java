package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.NewRow;
import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.Vectors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// A decoder and an assembler together, and the events that came out of them.
final class AssemblerRun implements AutoCloseable {

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final TransactionAssembler assembler;
    private final List<TransactionEvent> events = new ArrayList<>();

    AssemblerRun(SpoolSettings settings) {
        this(settings, Lsn.INVALID);
    }

    /// Keeps transactions that were prepared before a position until they are committed.
    AssemblerRun(SpoolSettings settings, Lsn holdPreparedBefore) {
        assembler = new TransactionAssembler(settings, holdPreparedBefore, FullDisk.fail());
    }

    /// With room for everything.
    static AssemblerRun inMemory(Path directory) {
        return new AssemblerRun(new SpoolSettings(directory, Long.MAX_VALUE, 0));
    }

    /// Without any memory: every change goes to the file at once.
    static AssemblerRun inFiles(Path directory) {
        return new AssemblerRun(new SpoolSettings(directory, 0, Long.MAX_VALUE));
    }

    AssemblerRun receive(byte[] message) {
        assembler.accept(decoder.decode(message, 0, message.length), message, 0, message.length, events::add);
        return this;
    }

    AssemblerRun receive(Vectors.Capture capture) {
        capture.messages().forEach(message -> {
            Bytes bytes = message.bytes();
            assembler.accept(message.decode(decoder), bytes.array(), bytes.offset(), bytes.length(), events::add);
        });
        return this;
    }

    List<TransactionEvent> events() {
        return events;
    }

    /// The values of the rows inserted so far, in tables of one column.
    List<String> inserted() {
        return events.stream()
                .filter(Change.Insert.class::isInstance)
                .map(event -> ((NewRow.Full) ((Change.Insert) event).newRow()).row())
                .map(row -> new String(row.bytes(), row.offset(0), row.length(0), StandardCharsets.UTF_8))
                .toList();
    }

    TransactionAssembler assembler() {
        return assembler;
    }

    static List<Path> spoolFiles(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".spool")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean isEmpty(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findAny().isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        assembler.close();
    }
}
