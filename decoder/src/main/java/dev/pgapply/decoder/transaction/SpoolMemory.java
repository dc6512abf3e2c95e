package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Bytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// The part of a transaction that is in memory: records one after the other in chunks, none of them across two.
final class SpoolMemory {

    private static final int SMALLEST_CHUNK_BYTES = 4 * 1024;
    /// Below half a region of the collector even in a small heap.
    private static final int LARGEST_CHUNK_BYTES = 256 * 1024;

    private final List<Chunk> chunks = new ArrayList<>();
    private long allocated;
    private long used;

    private static final class Chunk {
        private final byte[] bytes;
        private int used;

        Chunk(int size) {
            this.bytes = new byte[size];
        }
    }

    /// Takes what receives the message of a record: it may keep the array, which is not written again.
    interface Sink {
        void accept(byte[] bytes, int offset, int length);
    }

    /// How much heap it holds.
    long allocatedBytes() {
        return allocated;
    }

    long usedBytes() {
        return used;
    }

    void append(Bytes wire) {
        int size = SpoolRecord.sizeOf(wire);
        Chunk chunk = chunkFor(size);
        SpoolRecord.put(wire, ByteBuffer.wrap(chunk.bytes, chunk.used, size));
        chunk.used += size;
        used += size;
    }

    private Chunk chunkFor(int size) {
        int next = SMALLEST_CHUNK_BYTES;
        if (!chunks.isEmpty()) {
            Chunk last = chunks.getLast();
            if (last.bytes.length - last.used >= size) {
                return last;
            }
            next = Math.clamp(2L * last.bytes.length, SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        }
        Chunk chunk = new Chunk(Math.max(next, size));
        chunks.add(chunk);
        allocated += chunk.bytes.length;
        return chunk;
    }

    /// Keeps the first bytes, which end with a record.
    void truncate(long keep) {
        while (used > keep) {
            Chunk last = chunks.getLast();
            long start = used - last.used;
            if (start < keep) {
                last.used = (int) (keep - start);
                used = keep;
            } else {
                chunks.removeLast();
                allocated -= last.bytes.length;
                used = start;
            }
        }
    }

    void writeTo(OutputStream out) throws IOException {
        for (Chunk chunk : chunks) {
            out.write(chunk.bytes, 0, chunk.used);
        }
    }

    void replay(Sink sink) {
        for (Chunk chunk : chunks) {
            ByteBuffer in = ByteBuffer.wrap(chunk.bytes, 0, chunk.used);
            while (in.hasRemaining()) {
                int length = in.getInt(in.position());
                int offset = in.position() + SpoolRecord.HEADER_BYTES;
                sink.accept(chunk.bytes, offset, length);
                in.position(offset + length);
            }
        }
    }
}
