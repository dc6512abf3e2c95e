package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.ServerUnsuitable;
import dev.pgapply.schema.postgres.ControlSchema;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import dev.pgapply.schema.postgres.TableStates;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import java.sql.Connection;
import java.sql.SQLException;
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

    private static final SubscriptionRecord RECORD =
            new SubscriptionRecord("7390000000000000000", "shop", "pgapply_s", "pgoutput", Lsn.parse("FFFFFFFF/10"));

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
            RECORD.write(session.connection(), "s");
        } catch (SQLException e) {
            throw new AssertionError(e);
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

    @ParameterizedTest
    @MethodSource("someMajors")
    void aSubscriptionKeepsWhatItsProgressBelongsTo(int major) throws SQLException {
        SharedServer.Database database = migrated(major);
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Connection connection = session.connection();
            assertEquals(Optional.empty(), SubscriptionRecord.read(connection, "s"));
            RECORD.write(connection, "s");
            assertEquals(Optional.of(RECORD), SubscriptionRecord.read(connection, "s"));
            assertEquals(Optional.empty(), SubscriptionRecord.read(connection, "another"));
        }
    }

    @ParameterizedTest
    @MethodSource("someMajors")
    void tableStatesAreKeptForEachSubscription(int major) throws SQLException {
        SharedServer.Database database = migrated(major);
        TableStates states = new TableStates("s");
        TableName other = new TableName("a", "Z");
        try (PostgresSession session = database.open(SessionProfile.TARGET_CONTROL)) {
            Connection connection = session.connection();
            states.put(connection, List.of(T, other), State.INIT, Lsn.INVALID);
            new TableStates("another").put(connection, List.of(T), State.INIT, Lsn.INVALID);
            assertEquals(List.of(other, T), List.copyOf(states.read(connection).keySet()));
            states.copied(connection, T, Lsn.parse("A/B"), 42);
            assertEquals(Optional.of(new TableState(State.COPIED, Lsn.parse("A/B"))), states.lock(connection, T));
            assertEquals(
                    new TableState(State.INIT, Lsn.INVALID),
                    states.read(connection).get(other));
            assertEquals(
                    new TableState(State.INIT, Lsn.INVALID),
                    new TableStates("another").read(connection).get(T));
        }
    }

    private static SharedServer.Database migrated(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        ControlSchema.migrate(database.connector("postgres"));
        return database;
    }
}
