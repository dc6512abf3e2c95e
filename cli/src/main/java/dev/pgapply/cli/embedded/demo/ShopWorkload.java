package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Keeps the shop busy from several threads at a steady pace until it is closed.
final class ShopWorkload implements AutoCloseable {

    private static final int THREADS = 4;
    private static final int TRANSACTIONS_PER_SECOND = 1000;
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1) * THREADS / TRANSACTIONS_PER_SECOND;

    private static final String DEADLOCK_DETECTED = "40P01";

    private final PostgresServer source;
    private final List<Thread> threads = new ArrayList<>();
    private final LongAdder transactions = new LongAdder();
    private final LongAdder rows = new LongAdder();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private volatile boolean closed;

    private ShopWorkload(PostgresServer source) {
        this.source = source;
    }

    static ShopWorkload start(PostgresServer source) {
        ShopWorkload workload = new ShopWorkload(source);
        for (int i = 0; i < THREADS; i++) {
            long seed = i;
            workload.threads.add(Thread.ofPlatform().name("shop-" + i).start(() -> workload.work(seed)));
        }
        return workload;
    }

    /// Transactions committed so far.
    long transactions() {
        return transactions.sum();
    }

    /// Rows inserted, updated or deleted so far by statements (what cascades is not counted).
    long rows() {
        return rows.sum();
    }

    private void work(long seed) {
        try (Connection connection = source.connect(Shop.DATABASE)) {
            ShopTransactions shop = new ShopTransactions(connection, seed);
            long due = System.nanoTime();
            while (!closed) {
                oneTransaction(connection, shop);
                due = Math.max(due + PAUSE_NANOS, System.nanoTime() - TimeUnit.SECONDS.toNanos(1));
                long early = due - System.nanoTime();
                if (early > 0) {
                    TimeUnit.NANOSECONDS.sleep(early);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (SQLException | RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    private void oneTransaction(Connection connection, ShopTransactions shop) throws SQLException {
        try {
            long written = shop.next();
            if (written > 0) {
                transactions.increment();
                rows.add(written);
            }
        } catch (SQLException e) {
            // Shops have deadlocks now and then; the customer tries again.
            if (!DEADLOCK_DETECTED.equals(e.getSQLState())) {
                throw e;
            }
            connection.rollback();
        }
    }

    /// Fails if one of the threads has given up.
    void check() {
        Exception reason = failure.get();
        if (reason != null) {
            throw new DemoException("the shop's workload failed: " + reason.getMessage(), reason);
        }
    }

    @Override
    public void close() {
        stop();
    }

    /// Ends the threads after their transaction in hand.
    void stop() {
        closed = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
