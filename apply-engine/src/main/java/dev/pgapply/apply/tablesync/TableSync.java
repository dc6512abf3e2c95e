package dev.pgapply.apply.tablesync;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.apply.target.postgres.TargetErrors;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresConnector;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.TableStates;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/// Copies tables under one snapshot, several at once, the largest first. Each table's rows and its new state
/// are one transaction of the target: a copy that dies leaves nothing of the unfinished tables, and the
/// finished ones stay.
public final class TableSync implements AutoCloseable {

    /// Both sides of a copy.
    ///
    /// @param sourceProfile for reading
    /// @param targetProfile for writing
    /// @param origin what the copied rows are marked with
    public record Sides(
            PostgresConnector source,
            SessionProfile sourceProfile,
            SourceErrors sourceErrors,
            PostgresConnector target,
            SessionProfile targetProfile,
            TargetErrors targetErrors,
            CopyOrigin origin) {}

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);

    private final Sides sides;
    private final TableStates states;
    private final EngineListener listener;
    private final int workers;
    private final HikariDataSource sourcePool;
    private final HikariDataSource targetPool;
    private final ConcurrentLinkedQueue<Connection> busy = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    private volatile boolean aborted;

    /// @param workers how many tables are copied at once
    public TableSync(Sides sides, TableStates states, int workers, EngineListener listener) {
        this.sides = sides;
        this.states = states;
        this.listener = listener;
        this.workers = workers;
        this.sourcePool = pool("source copy", sides.source().dataSource(sides.sourceProfile()), workers);
        this.targetPool = pool("target copy", sides.target().dataSource(sides.targetProfile()), workers);
    }

    private static HikariDataSource pool(String name, DataSource connections, int size) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setDataSource(connections);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(Duration.ofSeconds(60).toMillis());
        return new HikariDataSource(config);
    }

    /// Copies all jobs; blocks until the last is done or one has failed.
    ///
    /// @param snapshot exported by a connection that stays silent until this method has taken it over
    /// @param copyLsn transactions whose commit begins before it are in the snapshot
    /// @throws ApplyException the first failure; the other tables that were finished by then are kept
    public void copy(List<CopyJob> jobs, String snapshot, Lsn copyLsn) throws InterruptedException {
        try (CopySnapshot held = CopySnapshot.open(sides.source(), sides.sourceProfile(), sides.sourceErrors())) {
            breakable(held.holder());
            try {
                held.hold(snapshot, jobs);
                listener.onEvent(new EngineEvent.CopyStarted(
                        jobs.stream()
                                .map(job -> new EngineEvent.TablePlan(
                                        job.table(), job.estimatedRows(), job.estimatedBytes()))
                                .toList(),
                        copyLsn));
                copy(jobs, held, copyLsn);
            } finally {
                busy.remove(held.holder());
            }
        }
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        listener.onEvent(new EngineEvent.CopyFinished(jobs.size()));
    }

    private void copy(List<CopyJob> jobs, CopySnapshot held, Lsn copyLsn) throws InterruptedException {
        Queue<CopyJob> waiting = new ConcurrentLinkedQueue<>(jobs.stream()
                .sorted(Comparator.comparingLong(CopyJob::estimatedBytes).reversed())
                .toList());
        BlockingQueue<CopyJob> locked = new LinkedBlockingQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Math.min(workers, jobs.size()); i++) {
            threads.add(Thread.ofPlatform()
                    .daemon()
                    .name("pgapply-copy-" + (i + 1))
                    .start(() -> work(waiting, locked, held, copyLsn)));
        }
        while (threads.stream().anyMatch(Thread::isAlive) || !locked.isEmpty()) {
            CopyJob job = locked.poll(BETWEEN_LOOKS.toMillis(), TimeUnit.MILLISECONDS);
            if (job != null && failure.get() == null) {
                attempt(() -> copy(job, held.holder(), copyLsn, System.nanoTime()));
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /// @param locked takes the tables that only the snapshot's holder can read
    private void work(Queue<CopyJob> waiting, Queue<CopyJob> locked, CopySnapshot held, Lsn copyLsn) {
        CopyJob next;
        while (failure.get() == null && (next = waiting.poll()) != null) {
            CopyJob job = next;
            attempt(() -> {
                if (!copyInOwnSession(job, held, copyLsn)) {
                    locked.add(job);
                }
            });
        }
    }

    private void attempt(Runnable copy) {
        try {
            copy.run();
        } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    /// @return whether the table could be read
    private boolean copyInOwnSession(CopyJob job, CopySnapshot held, Lsn copyLsn) {
        long start = System.nanoTime();
        Connection source = lease(sourcePool, e -> sides.sourceErrors().translate("connecting for the copy", e), true);
        boolean done = false;
        try {
            boolean readable = held.begin(source, job);
            if (readable) {
                copy(job, source, copyLsn, start);
                held.end(source);
            }
            done = true;
            return readable;
        } finally {
            release(sourcePool, source, done);
        }
    }

    /// @param source with the transaction that reads
    private void copy(CopyJob job, Connection source, Lsn copyLsn, long start) {
        Connection target = lease(targetPool, e -> sides.targetErrors().translate("connecting for the copy", e), false);
        boolean done = false;
        try {
            TableCopier.Copied copied = copy(job, source, target, copyLsn);
            done = true;
            listener.onEvent(new EngineEvent.TableCopied(
                    job.table(), copied.rows(), copied.bytes(), Duration.ofNanos(System.nanoTime() - start)));
        } catch (SQLException e) {
            throw sides.targetErrors().translate("copying", job.table(), e);
        } finally {
            release(targetPool, target, done);
        }
    }

    private TableCopier.Copied copy(CopyJob job, Connection source, Connection target, Lsn copyLsn)
            throws SQLException {
        try (Statement statement = target.createStatement()) {
            statement.execute("BEGIN");
            // The rest of a killed instance may be about to commit this table: its row is locked until then.
            Optional<TableStates.TableState> state = states.lock(target, job.table());
            if (state.isPresent() && state.get().state() == TableStates.State.COPIED) {
                statement.execute("ROLLBACK");
                return new TableCopier.Copied(0, 0);
            }
            TableCopier copier = new TableCopier(job, sides.sourceErrors(), sides.targetErrors());
            TableCopier.Copied copied = copier.copy(
                    source,
                    target,
                    (rows, bytes) -> listener.onEvent(new EngineEvent.CopyProgress(job.table(), rows, bytes)));
            states.copied(target, job.table(), copyLsn, copied.rows());
            sides.origin().commit(target);
            return copied;
        }
    }

    @FunctionalInterface
    private interface Translation {
        ApplyException of(SQLException e);
    }

    private Connection lease(HikariDataSource pool, Translation translation, boolean source) {
        try {
            return breakable(pool.getConnection());
        } catch (SQLException e) {
            throw translation.of(e);
        } catch (SchemaException e) {
            throw source
                    ? sides.sourceErrors().translate(e)
                    : sides.targetErrors().translate(e);
        }
    }

    /// What [#abort] can break from now on; one that has come too late for it is broken here.
    private Connection breakable(Connection connection) {
        busy.add(connection);
        if (aborted) {
            breakOff(connection);
        }
        return connection;
    }

    /// A connection that failed in the middle is not given to the next table.
    private void release(HikariDataSource pool, Connection connection, boolean clean) {
        busy.remove(connection);
        try {
            if (!clean) {
                // A polite close would first wait for the COPY to end.
                breakOff(connection);
                pool.evictConnection(connection);
            }
            connection.close();
        } catch (SQLException e) {
            // An evicted connection may be broken.
        }
    }

    /// Ends a copy under way, from any thread: its connections break, and [#copy] fails.
    public void abort() {
        failure.compareAndSet(
                null, new TargetLost(ErrorCode.TARGET_LOST, "the copy was stopped before its end", "", null));
        aborted = true;
        busy.forEach(TableSync::breakOff);
    }

    private static void breakOff(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // It is gone, as wanted.
        }
    }

    @Override
    public void close() {
        sourcePool.close();
        targetPool.close();
    }
}
