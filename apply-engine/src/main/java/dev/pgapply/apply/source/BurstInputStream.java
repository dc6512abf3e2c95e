package dev.pgapply.apply.source;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Reads a walsender's socket so that the walsender is not slowed down.
///
/// A walsender writes every message by itself. If the reader sleeps in `recv`, each of these writes has to wake
/// it up, which costs the walsender more than decoding the message. So while much is coming, this stream never
/// sleeps there: it waits elsewhere until a good deal has gathered, and takes that at once. While little is
/// coming, it is an ordinary buffered stream, and a message is handed over when it is there.
///
/// Much is coming if some milliseconds brought many bytes or many reads. It is over when a much longer time
/// brought few bytes: a walsender that has to read its WAL or waits for a processor falls silent for a while.
/// Read timeouts of the socket come through and lose nothing. One thread.
final class BurstInputStream extends InputStream {

    static final int BUFFER_BYTES = 1 << 20;

    /// A burst ends when so much has gathered,
    static final int FULL_BURST_BYTES = 256 << 10;

    /// or after this time,
    static final long LONGEST_BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /// or when there is about as much as ever was, and nothing was added while we looked away so often: the sender
    /// waits for room. With less, it only waits for a processor.
    static final int QUIET_LOOKS = 2;

    static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// Bursts begin when one short window brings many bytes or many reads, and end when a long one brings few
    /// bytes.
    static final long SHORT_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
    static final int MANY_BYTES = 64 << 10;
    static final int MANY_READS = 200;
    static final long LONG_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    static final int FEW_BYTES = 64 << 10;

    /// Time as the stream sees it.
    interface Waiting {
        Waiting REAL = new Waiting() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public boolean pause(long nanos) {
                LockSupport.parkNanos(nanos);
                return !Thread.currentThread().isInterrupted();
            }
        };

        long nanoTime();

        /// Returns whether there is still patience for another pause.
        boolean pause(long nanos);
    }

    private final InputStream socket;
    private final Waiting waiting;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;

    private boolean behind;
    /// The most that was ever found waiting.
    private int mostGathered;

    private long windowStart;
    private long windowBytes;
    private int windowReads;

    BurstInputStream(InputStream socket, Waiting waiting) {
        this.socket = socket;
        this.waiting = waiting;
        this.windowStart = waiting.nanoTime();
    }

    @Override
    public int read() throws IOException {
        return position < limit || fill() ? buffer[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (position == limit && !fill()) {
            return -1;
        }
        int part = Math.min(length, limit - position);
        System.arraycopy(buffer, position, target, offset, part);
        position += part;
        return part;
    }

    @Override
    public int available() throws IOException {
        return position < limit ? limit - position : socket.available();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = 0;
        if (behind) {
            gather();
            judge(0);
        }
        int read = socket.read(buffer, 0, buffer.length);
        if (read < 0) {
            return false;
        }
        limit = read;
        // One read takes less than what has gathered.
        while (behind && limit < buffer.length && socket.available() > 0) {
            read = socket.read(buffer, limit, buffer.length - limit);
            if (read < 0) {
                break;
            }
            limit += read;
        }
        judge(limit);
        return true;
    }

    private void gather() throws IOException {
        long end = waiting.nanoTime() + LONGEST_BURST_NANOS;
        int gathered = socket.available();
        int quiet = 0;
        while (gathered < FULL_BURST_BYTES
                && (quiet < QUIET_LOOKS || gathered < mostGathered - mostGathered / 4)
                && waiting.nanoTime() - end < 0) {
            if (!waiting.pause(LOOK_NANOS)) {
                break;
            }
            int before = gathered;
            gathered = socket.available();
            quiet = gathered > 0 && gathered == before ? quiet + 1 : 0;
        }
        mostGathered = Math.max(mostGathered, gathered);
    }

    /// Called before and after the socket is read.
    private void judge(int bytes) {
        windowBytes += bytes;
        windowReads++;
        long age = waiting.nanoTime() - windowStart;
        if (behind) {
            if (age > LONG_WINDOW_NANOS) {
                behind = windowBytes >= FEW_BYTES;
                beginWindow(0, 0);
            }
        } else {
            if (age > SHORT_WINDOW_NANOS) {
                beginWindow(bytes, 1);
            }
            if (windowBytes >= MANY_BYTES || windowReads >= MANY_READS) {
                behind = true;
                beginWindow(0, 0);
            }
        }
    }

    private void beginWindow(int bytes, int reads) {
        windowStart = waiting.nanoTime();
        windowBytes = bytes;
        windowReads = reads;
    }
}
