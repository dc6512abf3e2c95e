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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;

/// A decoder and an assembler together, and the events that came out of them.
final class AssemblerRun implements AutoCloseable {

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private final TransactionAssembler assembler;
    private final List<TransactionEvent> events = new ArrayList<>();
    private final Map<Integer, List<OpenTransaction.Part>> open = new HashMap<>();
    private int told;

    AssemblerRun(SpoolSettings settings) {
        this(settings, Lsn.INVALID);
    }

    /// Keeps transactions that were prepared before a position until they are committed.
    AssemblerRun(SpoolSettings settings, Lsn holdPreparedBefore) {
        this(settings, holdPreparedBefore, EarlyDelivery.NONE);
    }

    AssemblerRun(SpoolSettings settings, Lsn holdPreparedBefore, EarlyDelivery early) {
        assembler = new TransactionAssembler(settings, holdPreparedBefore, early, FullDisk.fail());
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
        assembler.accept(decoder.decode(message, 0, message.length), message, 0, message.length, this::take);
        return this;
    }

    AssemblerRun receive(Vectors.Capture capture) {
        capture.messages().forEach(message -> {
            Bytes bytes = message.bytes();
            assembler.accept(message.decode(decoder), bytes.array(), bytes.offset(), bytes.length(), this::take);
        });
        return this;
    }

    private void take(TransactionEvent event) {
        switch (event) {
            case TransactionEvent.Kept kept -> {
                int before = events.size();
                kept.forEach(events::add);
                requireAsTold(kept.begin().xid(), events.subList(before + 1, events.size() - 1));
            }
            case OpenTransaction.Part part ->
                open.computeIfAbsent(part.xid(), first -> new ArrayList<>()).add(part);
            case OpenTransaction.RolledBack rolledBack -> undo(rolledBack);
            default -> events.add(event);
        }
    }

    /// What was told of a transaction while it was open must be what it is in the end.
    private void requireAsTold(int xid, List<TransactionEvent> whole) {
        List<OpenTransaction.Part> parts = open.remove(xid);
        if (parts != null) {
            told++;
            Assertions.assertEquals(
                    whole, parts.stream().map(OpenTransaction.Part::event).toList());
        }
    }

    private void undo(OpenTransaction.RolledBack rolledBack) {
        if (rolledBack.xid() == rolledBack.subxid()) {
            open.remove(rolledBack.xid());
            return;
        }
        List<OpenTransaction.Part> parts = open.getOrDefault(rolledBack.xid(), new ArrayList<>());
        for (int i = 0; i < parts.size(); i++) {
            if (parts.get(i).subxid() == rolledBack.subxid()) {
                parts.subList(i, parts.size()).clear();
            }
        }
    }

    /// How many transactions were told of while they were open, and ended well.
    int told() {
        return told;
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
