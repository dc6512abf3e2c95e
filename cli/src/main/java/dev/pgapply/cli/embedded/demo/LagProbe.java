package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Measures how long a commit on the source takes to be visible on the target: writes a beat among the shop's
/// transactions, waits until the target shows it, writes the next.
final class LagProbe implements AutoCloseable {

    private static final String WRITE = "UPDATE shop.heartbeat SET beat = ? WHERE id = 1";
    private static final String READ = "SELECT beat FROM shop.heartbeat WHERE id = 1";

    private final PostgresServer source;
    private final PostgresServer target;
    private final Thread thread;

    // Written by the probe's thread, read by the demo's.
    private volatile long[] measured = new long[0];
    private volatile long pendingSince = System.nanoTime();
    private volatile boolean pending;
    private volatile @Nullable Exception failure;
    private volatile boolean closed;

    LagProbe(PostgresServer source, PostgresServer target) {
        this.source = source;
        this.target = target;
        this.thread = Thread.ofPlatform().name("lag").start(this::work);
    }

    /// The shortest, the middle, the longest and the last lag of all beats.
    record Lags(Duration middle, Duration longest, Duration last) {}

    /// All beats until now; the one under way is not in it.
    Lags lags() {
        long[] all = measured;
        if (all.length == 0) {
            return new Lags(Duration.ZERO, Duration.ZERO, Duration.ZERO);
        }
        long[] sorted = all.clone();
        Arrays.sort(sorted);
        return new Lags(
                Duration.ofNanos(sorted[sorted.length / 2]),
                Duration.ofNanos(sorted[sorted.length - 1]),
                Duration.ofNanos(all[all.length - 1]));
    }

    /// The lag of this moment: that of the last beat, or the age of the one under way if that is more.
    Duration current() {
        long age = pending ? System.nanoTime() - pendingSince : 0;
        return Duration.ofNanos(Math.max(age, lags().last().toNanos()));
    }

    int beats() {
        return measured.length;
    }

    private void work() {
        try (Connection left = source.connect(Shop.DATABASE);
                Connection right = target.connect(Shop.DATABASE);
                PreparedStatement write = left.prepareStatement(WRITE);
                PreparedStatement read = right.prepareStatement(READ)) {
            for (long beat = 1; !closed; beat++) {
                write.setLong(1, beat);
                write.executeUpdate();
                pendingSince = System.nanoTime();
                pending = true;
                while (!closed && beat(read) < beat) {
                    TimeUnit.MILLISECONDS.sleep(1);
                }
                if (beat(read) >= beat) {
                    long[] more = Arrays.copyOf(measured, measured.length + 1);
                    more[measured.length] = System.nanoTime() - pendingSince;
                    measured = more;
                }
                pending = false;
                TimeUnit.MILLISECONDS.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (SQLException | RuntimeException e) {
            failure = e;
        }
    }

    private static long beat(PreparedStatement read) throws SQLException {
        try (ResultSet row = read.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    /// Fails if nothing is measured any more.
    void check() {
        Exception reason = failure;
        if (reason != null) {
            throw new DemoException("the lag cannot be measured: " + reason.getMessage(), reason);
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
