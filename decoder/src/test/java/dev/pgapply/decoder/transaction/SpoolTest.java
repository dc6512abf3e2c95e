package dev.pgapply.decoder.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.PgOutputMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolTest {

    private static final int XID = 500;
    private static final int TABLE = 16384;

    @TempDir
    Path directory;

    @Test
    void anyChangedByteOfTheFileIsDamage() throws IOException {
        Spool spool = spilled("first", "second");
        Path file = file();
        byte[] written = Files.readAllBytes(file);
        for (int i = 0; i < written.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = written.clone();
                damaged[i] ^= (byte) (1 << bit);
                Files.write(file, damaged);
                SpoolException.Damaged e =
                        assertThrows(SpoolException.Damaged.class, () -> spool.replay((b, o, l) -> {}));
                assertEquals(XID, e.xid());
                assertEquals(directory.toString(), e.directory());
            }
        }
        Files.write(file, written);
        assertEquals(2, replayed(spool).size());
    }

    @Test
    void shortenedFileIsDamage() throws IOException {
        Spool spool = spilled("first", "second");
        byte[] written = Files.readAllBytes(file());
        for (int length = 0; length < written.length; length++) {
            Files.write(file(), Arrays.copyOf(written, length));
            assertThrows(SpoolException.Damaged.class, () -> spool.replay((b, o, l) -> {}));
        }
    }

    @Test
    void vanishedFileIsUnusable() throws IOException {
        Spool spool = spilled("first");
        Files.delete(file());
        assertThrows(SpoolException.Unusable.class, () -> spool.replay((b, o, l) -> {}));
    }

    @Test
    void replayedMessageIsTheOrdinaryOne() {
        Spool spool = spilled("first", "second");
        append(spool, XID, "third");
        PgOutputDecoder decoder = new PgOutputDecoder();
        List<PgOutputMessage> expected = new ArrayList<>();
        for (String value : List.of("first", "second", "third")) {
            byte[] ordinary = WireBytes.insert(0, TABLE, value);
            expected.add(decoder.decode(ordinary, 0, ordinary.length));
        }
        assertEquals(expected, replayed(spool));
    }

    @Test
    void recordsLargerThanABlockAndOnItsBorderAreRead() {
        List<String> values = new ArrayList<>();
        for (int length : new int[] {65_000, 1, 500, 65_536, 200_000, 3, 131_000, 0}) {
            values.add("x".repeat(length));
        }
        Spool spool = spilled(values.toArray(String[]::new));
        assertEquals(values.size(), replayed(spool).size());
    }

    @Test
    void abortMayCutTheFileAndLaterChangesFollow() {
        SpoolBudget budget = budget(Long.MAX_VALUE);
        Spool spool = new Spool(XID, file(), budget);
        append(spool, XID, "top");
        append(spool, 501, "in the file");
        spool.spill();
        append(spool, 502, "in memory");
        assertTrue(spool.abort(501));
        assertFalse(spool.abort(502));
        append(spool, XID, "after");
        spool.spill();
        assertEquals(2, replayed(spool).size());
        spool.delete();
        assertEquals(new SpoolUsage(0, 0, 0), budget.usage(0));
    }

    @Test
    void abortOfEverythingLeavesAnEmptyFileThatCanBeUsedAgain() {
        Spool spool = new Spool(XID, file(), budget(Long.MAX_VALUE));
        append(spool, 501, "gone");
        spool.spill();
        assertTrue(spool.abort(501));
        assertEquals(List.of(), replayed(spool));
        append(spool, 503, "again");
        spool.spill();
        assertEquals(1, replayed(spool).size());
    }

    @Test
    void limitOfTheDiskNamesTheTransactionAndTheDirectory() {
        Spool spool = new Spool(XID, file(), budget(100));
        append(spool, XID, "x".repeat(200));
        SpoolException.LimitReached e = assertThrows(SpoolException.LimitReached.class, spool::spill);
        assertEquals(XID, e.xid());
        assertEquals(
                "transaction 500 cannot be spooled: the files in %s have reached the limit of 100 bytes"
                        .formatted(directory),
                e.getMessage());
    }

    @Test
    void spaceFreedByAbortOrEndCountsForTheOthers() {
        SpoolBudget budget = budget(300);
        Spool first = new Spool(XID, file(), budget);
        append(first, 501, "x".repeat(200));
        first.spill();
        Spool second = new Spool(600, directory.resolve("other.spool"), budget);
        append(second, 600, "x".repeat(200));
        assertThrows(SpoolException.LimitReached.class, second::spill);
        first.abort(501);
        second.spill();
        second.delete();
        append(first, 501, "x".repeat(200));
        first.spill();
    }

    @Test
    void fullDiskIsToldApart() {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.isWritable(full), "a device that is always full");
        Spool spool = new Spool(XID, full, budget(Long.MAX_VALUE));
        append(spool, XID, "x");
        SpoolException.DiskFull e = assertThrows(SpoolException.DiskFull.class, spool::spill);
        assertEquals("/dev", e.directory());
        assertEquals(XID, e.xid());
    }

    @Test
    void writeIsRepeatedWholeOnceTheDiskHasRoom() throws IOException {
        Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.isWritable(full), "a device that is always full");
        Path file = Files.createSymbolicLink(directory.resolve("x.spool"), full);
        FullDisk untilThirdTime = (disk, waits) -> {
            if (waits == 2) {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        Spool spool = new Spool(
                XID,
                file,
                new SpoolBudget(new SpoolSettings(directory, Long.MAX_VALUE, Long.MAX_VALUE), untilThirdTime));
        append(spool, XID, "one");
        append(spool, XID, "two");
        spool.spill();
        assertEquals(2, replayed(spool).size());
    }

    @Test
    void missingDirectoryIsUnusable() {
        Spool spool = new Spool(XID, directory.resolve("missing/file.spool"), budget(Long.MAX_VALUE));
        append(spool, XID, "x");
        assertThrows(SpoolException.Unusable.class, spool::spill);
    }

    @Test
    void fileIsForItsUserOnly() throws IOException {
        Assumptions.assumeTrue(
                directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
        spilled("secret");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
    }

    private Spool spilled(String... values) {
        Spool spool = new Spool(XID, file(), budget(Long.MAX_VALUE));
        for (String value : values) {
            append(spool, XID, value);
        }
        spool.spill();
        return spool;
    }

    private static void append(Spool spool, int xid, String value) {
        byte[] wire = WireBytes.insert(xid, TABLE, value);
        PgOutputDecoder decoder = new PgOutputDecoder();
        byte[] start = WireBytes.streamStart(XID, true);
        decoder.decode(start, 0, start.length);
        spool.append((PgOutputMessage.Streamed) decoder.decode(wire, 0, wire.length));
    }

    private static List<PgOutputMessage> replayed(Spool spool) {
        List<PgOutputMessage> messages = new ArrayList<>();
        PgOutputDecoder decoder = new PgOutputDecoder();
        spool.replay((bytes, offset, length) -> messages.add(decoder.decode(bytes, offset, length)));
        return messages;
    }

    private SpoolBudget budget(long diskBytes) {
        return new SpoolBudget(new SpoolSettings(directory, Long.MAX_VALUE, diskBytes), FullDisk.fail());
    }

    private Path file() {
        return directory.resolve("test.spool");
    }
}
