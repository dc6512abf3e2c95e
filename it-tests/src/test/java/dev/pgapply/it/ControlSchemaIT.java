package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.ServerUnsuitable;
import dev.pgapply.schema.postgres.ControlSchema;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.ProgressRows;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import dev.pgapply.schema.postgres.SubscriptionRecord.Instance;
import dev.pgapply.schema.postgres.SubscriptionRecord.ProgressKind;
import dev.pgapply.schema.postgres.Subscriptions;
import dev.pgapply.schema.postgres.TableStates;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The control schema comes into being once, and keeps what it is told.
final class ControlSchemaIT {

    private static final TableName T = new TableName("my schema", "t'");

    static List<Integer> majors() {
        return SharedServer.majors();
    }

    static List<Integer> someMajors() {
        return SharedServer.someMajors();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void theSchemaIsCreatedOnceAndThenLeftAlone(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            assertEquals(0, ControlSchema.installedVersion(session));
            ControlSchema.migrate(database.connector("postgres"));
            assertEquals(ControlSchema.VERSION, ControlSchema.installedVersion(session));
        }
        String transactions = "SELECT string_agg(xmin::text, ',' ORDER BY oid) FROM pg_class"
                + " WHERE relnamespace = 'pgapply'::regnamespace";
        Optional<String> before = database.query(transactions);
        ControlSchema.migrate(database.connector("postgres"));
        assertEquals(before, database.query(transactions));
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void instancesThatStartTogetherCreateItTogether(int major) throws InterruptedException, ExecutionException {
        SharedServer.Database database = SharedServer.of(major).database();
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService instances = Executors.newFixedThreadPool(6)) {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                done.add(instances.submit(() -> {
                    start.await();
                    ControlSchema.migrate(database.connector("postgres"));
                    return null;
                }));
            }
            start.countDown();
            for (Future<?> instance : done) {
                instance.get();
            }
        }
        assertEquals(
                Optional.of("1"), database.query("SELECT count(*) FROM pgapply.schema_history WHERE version = '1'"));
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void aRoleThatMayOnlyReadAndWriteFindsTheSchemaUpToDate(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        String role = "writer_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        NotPermitted mayNotCreate =
                assertThrows(NotPermitted.class, () -> ControlSchema.migrate(database.connector(role)));
        assertTrue(
                mayNotCreate
                        .hint()
                        .startsWith("GRANT CREATE ON DATABASE \"" + database.name() + "\" TO \"" + role + "\";"),
                mayNotCreate.hint());
        ControlSchema.migrate(database.connector("postgres"));
        assertThrows(NotPermitted.class, () -> ControlSchema.migrate(database.connector(role)));
        database.execute("GRANT USAGE ON SCHEMA pgapply TO " + role);
        NotPermitted mayNotRead =
                assertThrows(NotPermitted.class, () -> ControlSchema.migrate(database.connector(role)));
        for (String grant : mayNotRead.hint().replace("the role", role).split("\n", -1)) {
            database.execute(grant);
        }
        ControlSchema.migrate(database.connector(role));
        try (PostgresSession session = database.open(role, SessionProfile.TARGET_CONTROL)) {
            assertTrue(new Subscriptions("s").insert(session.connection(), record(Optional.empty())));
        }
    }

    @Test
    void aRoleThatMayCreateNeedsNoSuperuser() {
        SharedServer.Database database = SharedServer.of(18).database();
        String role = "creator_" + database.name();
        database.execute(
                "CREATE ROLE " + role + " LOGIN", "GRANT CREATE ON DATABASE " + database.name() + " TO " + role);
        ControlSchema.migrate(database.connector(role));
        ControlSchema.migrate(database.connector(role));
    }

    @Test
    void aSchemaOfANewerProgramIsRefused() {
        SharedServer.Database database = SharedServer.of(18).database();
        ControlSchema.migrate(database.connector("postgres"));
        database.execute("INSERT INTO pgapply.schema_history SELECT installed_rank + 1, '999', 'future', type, script,"
                + " checksum, installed_by, installed_on, execution_time, success FROM pgapply.schema_history"
                + " ORDER BY installed_rank DESC LIMIT 1");
        ServerUnsuitable newer =
                assertThrows(ServerUnsuitable.class, () -> ControlSchema.migrate(database.connector("postgres")));
        assertTrue(newer.toString().contains("has version 999"), newer.toString());
    }

    private static SubscriptionRecord record(Optional<Instance> instance) {
        return new SubscriptionRecord(
                "s",
                "7390000000000000000",
                "shop",
                "pgapply_s",
                "pgoutput",
                ProgressKind.ORIGIN,
                Lsn.INVALID,
                instance);
    }

    @ParameterizedTest
    @MethodSource("majors")
    void aSubscriptionKeepsItsIdentityAndItsConfirmedPosition(int major) {
        SharedServer.Database database = migrated(major);
        Subscriptions subscription = new Subscriptions("s");
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Connection connection = session.connection();
            assertEquals(Optional.empty(), subscription.read(connection));
            assertTrue(subscription.insert(connection, record(Optional.empty())));
            assertFalse(subscription.insert(connection, record(Optional.empty())));
            assertEquals(Optional.of(record(Optional.empty())), subscription.read(connection));
            Instance instance = new Instance("host", 4711, Instant.parse("2026-01-02T03:04:05.678901Z"));
            subscription.claim(connection, instance);
            assertEquals(Optional.of(record(Optional.of(instance))), subscription.lock(connection));
            subscription.confirm(connection, Lsn.parse("FFFFFFFF/10"));
            subscription.confirm(connection, Lsn.parse("2/0"));
            assertEquals(
                    Optional.of(Lsn.parse("FFFFFFFF/10")),
                    subscription.read(connection).map(SubscriptionRecord::confirmed));
            subscription.rebind(connection, "18446744073709551615", "other", Lsn.parse("1/0"));
            SubscriptionRecord rebound = subscription.read(connection).orElseThrow();
            assertEquals("18446744073709551615", rebound.sourceSystemIdentifier());
            assertEquals(Lsn.parse("1/0"), rebound.confirmed());
            subscription.delete(connection);
            assertEquals(Optional.empty(), subscription.read(connection));
            assertThrows(IllegalStateException.class, () -> subscription.confirm(connection, Lsn.parse("3/0")));
        }
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void progressMovesOnlyFromWhereItIs(int major) throws SQLException {
        SharedServer.Database database = migrated(major);
        ProgressRows progress = new ProgressRows("s");
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Connection connection = session.connection();
            assertEquals(Optional.empty(), progress.read(connection));
            assertTrue(progress.insert(connection, Lsn.parse("0/10")));
            assertFalse(progress.insert(connection, Lsn.parse("0/99")));
            assertTrue(progress.advance(connection, Lsn.parse("0/10"), Lsn.parse("0/20"), Instant.EPOCH));
            assertFalse(progress.advance(connection, Lsn.parse("0/10"), Lsn.parse("0/30"), null));
            connection.setAutoCommit(false);
            assertEquals(Optional.of(Lsn.parse("0/20")), progress.lock(connection));
            assertTrue(progress.advance(connection, Lsn.parse("0/20"), Lsn.parse("0/30"), null));
            connection.rollback();
            assertEquals(Optional.of(Lsn.parse("0/20")), progress.read(connection));
        }
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void tableStatesAreKeptForEachSubscription(int major) {
        SharedServer.Database database = migrated(major);
        TableStates states = new TableStates("s");
        TableName other = new TableName("a", "Z");
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Connection connection = session.connection();
            states.put(connection, TableState.init(T));
            states.put(connection, TableState.init(other));
            new TableStates("another").put(connection, TableState.init(T));
            assertEquals(List.of(other, T), List.copyOf(states.read(connection).keySet()));
            TableState copied = new TableState(T, State.COPIED, Optional.of(Lsn.parse("A/B")), 42, Optional.empty());
            states.put(connection, copied);
            assertEquals(Optional.of(copied), states.lock(connection, T));
            assertEquals(2, states.move(connection, List.of(T, other, new TableName("x", "y")), State.READY));
            assertEquals(
                    new TableState(T, State.READY, Optional.of(Lsn.parse("A/B")), 42, Optional.empty()),
                    states.read(connection).get(T));
            states.put(
                    connection,
                    new TableState(other, State.STOPPED, Optional.empty(), 0, Optional.of("no such column")));
            assertEquals(
                    Optional.of("no such column"),
                    states.lock(connection, other).flatMap(TableState::reason));
            states.delete(connection, T);
            assertEquals(Optional.empty(), states.lock(connection, T));
            assertEquals(
                    State.INIT,
                    new TableStates("another").read(connection).get(T).state());
            new Subscriptions("s").delete(connection);
            assertTrue(states.read(connection).isEmpty());
        }
    }

    private static SharedServer.Database migrated(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        ControlSchema.migrate(database.connector("postgres"));
        return database;
    }
}
