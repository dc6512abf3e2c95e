package dev.pgapply.it;

import dev.pgapply.apply.EngineListener;
import dev.pgapply.apply.Subscription;
import dev.pgapply.cli.embedded.TableComparison;
import dev.pgapply.cli.embedded.TableComparison.Result;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Assertions;

/// A source and a target database of one test, with a subscription's name that no other test uses.
///
/// ```java
/// try (Replication replication = Replication.newest()) {
///     replication.both("CREATE TABLE t (id int PRIMARY KEY)");
///     try (Launcher run = replication.run()) {
///         replication.source().execute("INSERT INTO t VALUES (1)");
///         replication.awaitApplied();
///         replication.assertIdentical();
///     }
/// }
/// ```
final class Replication implements AutoCloseable {

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final String name = "it_" + ProcessHandle.current().pid() + "_" + COUNT.incrementAndGet();
    private final TestDatabase source;
    private final TestDatabase target;
    private final boolean ownsDatabases;
    private final SubscriptionSetup setup = new SubscriptionSetup();
    private Optional<EngineRun> current = Optional.empty();

    private Replication(TestDatabase source, TestDatabase target, boolean ownsDatabases) {
        this.source = source;
        this.target = target;
        this.ownsDatabases = ownsDatabases;
    }

    static Replication newest() {
        return between(TestServers.NEWEST, TestServers.NEWEST);
    }

    static Replication between(int sourceMajor, int targetMajor) {
        return of(
                TestServers.source(sourceMajor).database(),
                TestServers.target(targetMajor).database());
    }

    /// Between databases that the test has made itself; they are dropped with this object.
    static Replication of(TestDatabase source, TestDatabase target) {
        return new Replication(source, target, true);
    }

    /// One more subscription between databases that belong to others: only its slot and origin go with this
    /// object.
    static Replication besides(TestDatabase source, TestDatabase target) {
        return new Replication(source, target, false);
    }

    /// The subscription's name; slot, origin and publication are `pgapply_` and this.
    String name() {
        return name;
    }

    TestDatabase source() {
        return source;
    }

    TestDatabase target() {
        return target;
    }

    /// Runs statements on both sides.
    void both(String... statements) {
        source.execute(statements);
        target.execute(statements);
    }

    /// Changes what the engine will be started with.
    Replication with(Consumer<SubscriptionSetup> change) {
        change.accept(setup);
        return this;
    }

    Subscription subscription() {
        return setup.subscription(name, source, target);
    }

    /// The engine on a thread of this JVM.
    EngineRun engine() {
        EngineRun started = new EngineRun(subscription());
        current = Optional.of(started);
        return started;
    }

    /// The engine with a listener of the test's own.
    EngineRun engine(EngineListener listener, Duration silence) {
        EngineRun started = new EngineRun(subscription(), listener, silence);
        current = Optional.of(started);
        return started;
    }

    /// Runs the engine until everything committed on the source so far is applied.
    void applyUntilNow() {
        setup.until = Optional.of(new Subscription.Until.Now());
        try (EngineRun run = engine()) {
            run.awaitUntil();
        } finally {
            setup.until = Optional.empty();
        }
    }

    /// `pgapply run` as a process of its own.
    Launcher run(String... moreArguments) {
        return run(Map.of(), moreArguments);
    }

    /// The same with further environment variables.
    Launcher run(Map<String, String> environment, String... moreArguments) {
        List<String> arguments =
                new ArrayList<>(List.of("run", "--name", name, "--source", source.uri(), "--target", target.uri()));
        arguments.addAll(Arrays.asList(moreArguments));
        return Launcher.start(arguments, environment);
    }

    /// Waits until everything committed on the source so far is applied, durable and confirmed.
    void awaitApplied() {
        Lsn lsn = source.flushLsn();
        awaitCopied();
        awaitConfirmed(lsn);
    }

    /// Waits until everything committed on the source so far can be seen on the target, durable or not: sooner
    /// than [#awaitApplied], which waits for positions to be stored too.
    void awaitSeen() {
        Lsn lsn = source.flushLsn();
        awaitCopied();
        await("the target has replayed " + lsn, () -> replayed().compareTo(lsn) >= 0);
    }

    private Lsn replayed() {
        return source.query("SELECT r.replay_lsn FROM pg_stat_replication r JOIN pg_replication_slots s"
                        + " ON s.active_pid = r.pid WHERE s.slot_name = 'pgapply_" + name
                        + "' AND r.replay_lsn IS NOT NULL")
                .map(Lsn::parse)
                .orElse(Lsn.INVALID);
    }

    /// A condition that a failed engine cannot fulfil any more.
    private void await(String what, Callable<Boolean> condition) {
        Await.until(what, () -> {
            current.ifPresent(EngineRun::assertNotFailed);
            return condition.call();
        });
    }

    /// Waits until every table that is known has been copied.
    void awaitCopied() {
        await(
                "all tables are copied",
                () -> target.query("SELECT to_regclass('pgapply.table_state') IS NOT NULL")
                                .equals(Optional.of("t"))
                        && target.query(
                                        "SELECT count(*) > 0 AND bool_and(state IN ('COPIED', 'CATCHUP', 'READY', 'STOPPED'))"
                                                + " FROM pgapply.table_state WHERE subscription = '" + name + "'")
                                .equals(Optional.of("t")));
    }

    /// Waits until the slot's confirmed position has reached this one.
    void awaitConfirmed(Lsn lsn) {
        await("the slot has confirmed " + lsn, () -> confirmed().compareTo(lsn) >= 0);
    }

    /// The slot's confirmed position; `0/0` as long as there is no slot.
    Lsn confirmed() {
        return source.query("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'pgapply_" + name
                        + "' AND confirmed_flush_lsn IS NOT NULL")
                .map(Lsn::parse)
                .orElse(Lsn.INVALID);
    }

    /// The source's position that is committed on the target; `0/0` as long as there is none.
    Lsn progress() {
        if (target.query("SELECT to_regclass('pgapply.progress')").equals(Optional.of("NULL"))) {
            return Lsn.INVALID;
        }
        // Positions have no max() before version 13.
        return target.query("SELECT lsn FROM pgapply.progress WHERE subscription = '" + name
                        + "' ORDER BY lsn DESC LIMIT 1")
                .map(Lsn::parse)
                .orElse(Lsn.INVALID);
    }

    /// Waits until the target has committed everything up to this position, durable or not.
    void awaitProgress(Lsn lsn) {
        Await.until("the target's progress has reached " + lsn, () -> progress().compareTo(lsn) >= 0);
    }

    /// Waits until a query on the target gives this value.
    void awaitOnTarget(String expected, String sql) {
        Await.until(expected + " from " + sql, () -> target.query(sql).equals(Optional.of(expected)));
    }

    /// Fails unless all tables of the source hold the same rows on the target.
    void assertIdentical(String... tables) {
        assertIdentical(source, target, tables);
    }

    /// Fails unless these tables (`name` or `schema.name`; all of the source where none is named) hold the same
    /// rows on both sides.
    static void assertIdentical(TestDatabase source, TestDatabase target, String... tables) {
        List<Result> different = compare(source, target, tables).stream()
                .filter(result -> !result.identical())
                .toList();
        Assertions.assertTrue(
                different.isEmpty(),
                () -> String.join("\n", different.stream().map(Result::describe).toList()));
    }

    static List<Result> compare(TestDatabase source, TestDatabase target, String... tables) {
        try (Connection left = source.connect();
                Connection right = target.connect()) {
            TableComparison comparison = TableComparison.ofPostgres(left, right);
            if (tables.length == 0) {
                List<Result> all = comparison.compareAll();
                Assertions.assertFalse(all.isEmpty(), "the source has no table");
                return all;
            }
            return Arrays.stream(tables)
                    .map(Replication::tableName)
                    .map(comparison::compare)
                    .toList();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static TableName tableName(String text) {
        int dot = text.indexOf('.');
        return dot < 0 ? new TableName("public", text) : new TableName(text.substring(0, dot), text.substring(dot + 1));
    }

    /// Drops both databases, the slot and the origin. What still runs of the engine loses its connections.
    @Override
    public void close() {
        if (ownsDatabases) {
            source.close();
            target.close();
        } else {
            String slots = " FROM pg_replication_slots WHERE slot_name = 'pgapply_" + name + "'";
            Await.until(
                    "the slot is free",
                    () -> source.query("SELECT count(*)" + slots + " AND active")
                            .equals(Optional.of("0")));
            source.queryAll("SELECT pg_drop_replication_slot(slot_name)" + slots);
        }
        // Origins belong to the whole cluster, not to the database.
        new TestDatabase(target.server(), "postgres")
                .queryAll(
                        "SELECT pg_replication_origin_drop(roname) FROM pg_replication_origin WHERE roname = 'pgapply_"
                                + name + "'");
    }
}
