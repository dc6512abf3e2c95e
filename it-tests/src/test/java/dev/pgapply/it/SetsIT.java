package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.Subscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Groups written as sets leave what the source has, and where the target differs from the source, what applying
/// change by change leaves.
final class SetsIT {

    private static final int SEEDS_PER_DATABASE = 10;

    /// Random tables, changed by random transactions, applied in groups of random size.
    @ParameterizedTest
    @CsvSource({"18, 18, 6", "18, 18, 6", "10, 10, 1", "13, 12, 1", "14, 17, 1", "16, 11, 1"})
    void randomTransactionsArriveAsTheyWere(int sourceMajor, int targetMajor, int share) {
        long seeds = Math.max(1, Long.getLong("pgapply.seeds", 100) * share / 16 / SEEDS_PER_DATABASE);
        long first = Long.getLong("pgapply.seed", System.nanoTime());
        for (long seed = first; seed < first + seeds; seed++) {
            Random random = new Random(seed);
            System.out.println("SetsIT: seed " + seed + ", " + sourceMajor + " to " + targetMajor);
            try (Replication replication = Replication.between(sourceMajor, targetMajor)) {
                List<String> changes = new ArrayList<>();
                create(replication, random, Math.min(sourceMajor, targetMajor), changes);
                replication.with(setup -> {
                    setup.writer = writer(random);
                    setup.binary = random.nextBoolean() ? Subscription.Binary.AUTO : Subscription.Binary.OFF;
                });
                replication.applyUntilNow();
                work(replication.source(), random, changes);
                assertOnlyUniqueViolationsAreDoubts(replication);
                replication.assertIdentical();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    /// Where nothing is missing, only values that change places give cause for a doubt.
    private static void assertOnlyUniqueViolationsAreDoubts(Replication replication) {
        replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
        try (EngineRun run = replication.engine()) {
            run.awaitUntil();
            for (EngineEvent.AppliedInOrder doubt : run.events(EngineEvent.AppliedInOrder.class)) {
                assertEquals("a unique violation", doubt.reason(), doubt::toString);
                assertTrue(doubt.table().orElseThrow().name().endsWith("_second_key"), doubt::toString);
            }
            assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
        }
    }

    /// Rows that are missing on the target: sets and single changes skip the same conflicts.
    @Test
    void missingRowsAreSkippedAsChangeByChange() {
        long seeds = Math.max(2, Long.getLong("pgapply.seeds", 100) / 4 / SEEDS_PER_DATABASE);
        long first = Long.getLong("pgapply.seed", System.nanoTime());
        for (long seed = first; seed < first + seeds; seed++) {
            Random random = new Random(seed);
            System.out.println("SetsIT: missing rows, seed " + seed);
            TestDatabase source = TestServers.source(TestServers.NEWEST).database();
            try (Replication sets = Replication.of(
                            source, TestServers.target(TestServers.NEWEST).database());
                    TestDatabase other = TestServers.target(TestServers.NEWEST).database();
                    Replication exact = Replication.besides(source, other)) {
                List<String> tables = new ArrayList<>();
                create(sets, random, TestServers.NEWEST, tables);
                other.execute(definitions(tables));
                List<String> filled = Stream.generate(() -> tables)
                        .limit(5)
                        .flatMap(List::stream)
                        .toList();
                work(source, random, filled);
                Subscription.Writer writer = writer(random);
                sets.with(setup -> setup.writer = writer);
                // Without the role of a replica everything goes change by change; no trigger here does anything.
                exact.with(setup -> setup.allowTriggers = true);
                sets.applyUntilNow();
                exact.applyUntilNow();
                List<String> lost = lose(sets.target(), random, tables);
                other.execute(lost.toArray(String[]::new));
                work(source, random, tables);
                assertEquals(conflicts(sets), conflicts(exact), "seed " + seed);
                for (String table : tables) {
                    assertEquals(other.rows(name(table)), sets.target().rows(name(table)), "seed " + seed);
                }
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    /// Deletes some rows of the target.
    ///
    /// @return statements that delete the same ones elsewhere
    private static List<String> lose(TestDatabase target, Random random, List<String> tables) {
        List<String> lost = new ArrayList<>();
        for (String table : tables) {
            if (random.nextBoolean() && kind(table) != RandomTable.NO_KEY) {
                String ids = target
                        .queryAll("DELETE FROM " + name(table) + " WHERE ctid::text LIKE '%" + random.nextInt(5)
                                + ")' RETURNING quote_literal(id)")
                        .stream()
                        .collect(Collectors.joining(", "));
                if (!ids.isEmpty()) {
                    lost.add("DELETE FROM " + name(table) + " WHERE id::text IN (" + ids + ")");
                }
            }
        }
        return lost;
    }

    private static Map<String, Long> conflicts(Replication replication) {
        replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
        try (EngineRun run = replication.engine()) {
            run.awaitUntil();
            return run.events(EngineEvent.ConflictSkipped.class).stream()
                    .collect(Collectors.groupingBy(
                            event -> event.table() + " " + event.type(), TreeMap::new, Collectors.counting()));
        }
    }

    private static Subscription.Writer writer(Random random) {
        int rows = List.of(3, 25, 100, 1_000, 20_000).get(random.nextInt(5));
        long bytes = random.nextInt(4) == 0 ? 20_000 : 8L << 20;
        return new Subscription.Writer(random.nextInt(8) != 0, rows, bytes, Duration.ofSeconds(1), false);
    }

    /// Makes tables of every kind on both sides; `tables` gets `KIND name` of each.
    private static void create(Replication replication, Random random, int major, List<String> tables) {
        List<String> onSource = new ArrayList<>();
        List<String> onTarget = new ArrayList<>();
        for (int i = 0; i < SEEDS_PER_DATABASE; i++) {
            for (RandomTable kind : RandomTable.values()) {
                if (kind.since() > major || random.nextInt(4) == 0) {
                    continue;
                }
                String name = "t" + i + "_" + kind.name().toLowerCase(java.util.Locale.ROOT);
                tables.add(kind + " " + name);
                onSource.add(kind.create(name));
                onTarget.add(kind.create(name));
                Stream.of(kind.afterwards(name, true))
                        .filter(sql -> !sql.isEmpty())
                        .forEach(onSource::add);
                Stream.of(kind.afterwards(name, false))
                        .filter(sql -> !sql.isEmpty())
                        .forEach(onTarget::add);
            }
        }
        replication.source().execute(onSource.toArray(String[]::new));
        replication.target().execute(onTarget.toArray(String[]::new));
    }

    private static String[] definitions(List<String> tables) {
        return tables.stream()
                .flatMap(table ->
                        Stream.of(kind(table).create(name(table)), kind(table).afterwards(name(table), false)))
                .filter(sql -> !sql.isEmpty())
                .toArray(String[]::new);
    }

    private static RandomTable kind(String table) {
        return RandomTable.valueOf(table.substring(0, table.indexOf(' ')));
    }

    private static String name(String table) {
        return table.substring(table.indexOf(' ') + 1);
    }

    /// Random transactions; what a statement may not do is rolled back to before it.
    private static void work(TestDatabase source, Random random, List<String> tables) {
        try (Connection connection = source.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 150; i++) {
                int length = random.nextInt(10) == 0 ? 100 : 1 + random.nextInt(12);
                for (int j = 0; j < length; j++) {
                    String table = tables.get(random.nextInt(tables.size()));
                    // The same table again, so that its rows meet.
                    int times = 1 + random.nextInt(6);
                    for (int k = 0; k < times; k++) {
                        run(source, connection, statement, kind(table).change(random, name(table)));
                    }
                }
                commit(connection, random);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void run(TestDatabase source, Connection connection, Statement statement, List<String> changes)
            throws SQLException {
        for (String sql : changes) {
            if (sql.startsWith("TRUNCATE") && source.server().version() < 110_000) {
                // A source of version 10 says nothing of it.
                continue;
            }
            Savepoint before = connection.setSavepoint();
            try {
                statement.execute(sql);
                connection.releaseSavepoint(before);
            } catch (SQLException e) {
                // A value that stands there already, or a deferred check that waits: the next one is another try.
                assertTrue(
                        List.of("23505", "23P01", "55006").contains(e.getSQLState()),
                        () -> sql + ": " + e.getMessage());
                connection.rollback(before);
            }
        }
    }

    private static void commit(Connection connection, Random random) throws SQLException {
        if (random.nextInt(10) == 0) {
            connection.rollback();
            return;
        }
        try {
            connection.commit();
        } catch (SQLException e) {
            assertEquals("23505", e.getSQLState(), "only deferred constraints speak at the commit");
            connection.rollback();
        }
    }

    @Test
    void aRowInTheWayStopsTheRunBehindTheTransactionsBeforeIt() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v int)");
            replication.with(setup -> setup.targetRows = Subscription.TargetRows.KEEP);
            replication.applyUntilNow();
            replication.target().execute("INSERT INTO t VALUES (55, -1)");
            for (int i = 0; i < 10; i++) {
                replication
                        .source()
                        .execute("INSERT INTO t SELECT g, 0 FROM generate_series(" + i * 10 + ", " + i + "9) g");
            }
            replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
            try (EngineRun run = replication.engine()) {
                ApplyException failure = run.awaitFailure();
                assertTrue(failure instanceof ApplyException.ConflictStop, failure::toString);
                assertFalse(run.events(EngineEvent.AppliedInOrder.class).isEmpty());
            }
            if (!SubscriptionSetup.groupingIsOff()) {
                assertEquals(51, replication.target().count("t"), "50 rows of whole transactions, and the one");
            }
            replication.target().execute("DELETE FROM t WHERE id = 55");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    @Test
    void aMissingRowInTheLastPartOfALargeTransactionIsSkipped() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v int)");
            replication.source().execute("INSERT INTO t SELECT g, 0 FROM generate_series(1, 1000) g");
            replication.with(
                    setup -> setup.writer = new Subscription.Writer(true, 100, 8L << 20, Duration.ofSeconds(1), false));
            replication.applyUntilNow();
            replication.target().execute("DELETE FROM t WHERE id IN (3, 777)");
            replication.source().execute("UPDATE t SET v = v + 1");
            replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
            try (EngineRun run = replication.engine()) {
                run.awaitUntil();
                assertEquals(2, run.events(EngineEvent.ConflictSkipped.class).size());
                assertEquals(2, run.events(EngineEvent.AppliedInOrder.class).size());
            }
            assertEquals(
                    Arrays.asList("998", "1000", "1"),
                    List.of(
                            replication.target().query("SELECT count(*) FROM t").orElseThrow(),
                            replication.target().query("SELECT max(id) FROM t").orElseThrow(),
                            replication.target().query("SELECT min(v) FROM t").orElseThrow()));
        }
    }

    @Test
    void aValueThatADeferrableKeyWouldHaveTwiceStopsALargeTransaction() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE DEFERRABLE)");
            replication.with(setup -> {
                setup.targetRows = Subscription.TargetRows.KEEP;
                setup.writer = new Subscription.Writer(true, 100, 8L << 20, Duration.ofSeconds(1), false);
            });
            replication.applyUntilNow();
            replication.target().execute("INSERT INTO t VALUES (-1, 321)");
            replication.source().execute("INSERT INTO t SELECT g, g FROM generate_series(1, 333) g");
            replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
            try (EngineRun run = replication.engine()) {
                ApplyException failure = run.awaitFailure();
                assertTrue(failure instanceof ApplyException.ConflictStop, failure::toString);
            }
            assertEquals(1, replication.target().count("t"));
            replication.target().execute("DELETE FROM t");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    @Test
    void valuesThatChangePlacesInAnotherKeyArriveInOrder() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE)");
            replication.source().execute("INSERT INTO t SELECT g, g FROM generate_series(1, 100) g");
            replication.applyUntilNow();
            for (int i = 1; i < 100; i += 2) {
                replication
                        .source()
                        .transaction(
                                "UPDATE t SET u = -1 WHERE id = " + i,
                                "UPDATE t SET u = " + i + " WHERE id = " + (i + 1),
                                "UPDATE t SET u = " + (i + 1) + " WHERE id = " + i);
            }
            replication.with(setup -> setup.until = Optional.of(new Subscription.Until.Now()));
            try (EngineRun run = replication.engine()) {
                run.awaitUntil();
                if (!SubscriptionSetup.groupingIsOff()) {
                    assertEquals(
                            "a unique violation",
                            run.events(EngineEvent.AppliedInOrder.class)
                                    .getFirst()
                                    .reason());
                }
            }
            replication.assertIdentical();
        }
    }
}
