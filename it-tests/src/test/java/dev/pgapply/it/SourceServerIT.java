package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SourceFacts;
import dev.pgapply.schema.postgres.SourceServer;
import dev.pgapply.schema.postgres.SystemIdentity;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;

/// What a source says of itself and of its slots.
final class SourceServerIT {

    static List<Integer> majors() {
        return SharedServer.majors();
    }

    @ParameterizedTest
    @MethodSource("majors")
    void factsAreThoseOfIdentifySystem(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        try (PostgresSession control = database.open(SessionProfile.SOURCE_CONTROL);
                PostgresSession replication = database.open(SessionProfile.SOURCE_REPLICATION)) {
            SourceServer server = new SourceServer(control);
            SystemIdentity identity = SourceServer.identify(replication);
            SourceFacts facts = server.facts();
            assertEquals(identity.systemIdentifier(), facts.systemIdentifier());
            assertEquals(identity.timeline(), facts.timeline());
            assertEquals(database.name(), facts.database());
            assertEquals(database.name(), identity.database());
            assertEquals("postgres", facts.role());
            assertEquals(major, facts.serverVersion() / 10_000);
            assertTrue(facts.decodesLogically());
            assertTrue(facts.mayReplicate());
            assertFalse(facts.inRecovery());
            assertEquals(30, facts.maxReplicationSlots());
            assertEquals(30, facts.maxWalSenders());
            assertTrue(facts.usedWalSenders() >= 1);
            assertTrue(identity.flushPosition().isValid());
            assertFalse(server.flushPosition().isBefore(identity.flushPosition()));
            assertFalse(facts.insertPosition().isBefore(facts.flushPosition()));
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void anOrdinaryRoleMayAsk(int major) {
        SharedServer.Database database = SharedServer.of(major).database();
        String role = "asks_" + database.name();
        database.execute("CREATE ROLE " + role + " LOGIN");
        try (PostgresSession control = database.open(role, SessionProfile.SOURCE_CONTROL)) {
            SourceServer server = new SourceServer(control);
            assertFalse(server.facts().mayReplicate());
            assertEquals(Optional.empty(), server.slot("nowhere"));
        }
    }

    @ParameterizedTest
    @MethodSource("majors")
    void aSlotTellsWhoUsesIt(int major) throws SQLException {
        SharedServer.Database database = SharedServer.of(major).database("CREATE PUBLICATION p FOR ALL TABLES");
        String name = "slot_" + database.name();
        try (PostgresSession control = database.open(SessionProfile.SOURCE_CONTROL);
                PostgresSession replication = database.open(SessionProfile.SOURCE_REPLICATION)) {
            SourceServer server = new SourceServer(control);
            replication
                    .connection()
                    .createStatement()
                    .execute("CREATE_REPLICATION_SLOT \"" + name + "\" LOGICAL pgoutput NOEXPORT_SNAPSHOT");
            SlotFacts idle = server.slot(name).orElseThrow();
            assertEquals(Optional.of("pgoutput"), idle.plugin());
            assertEquals(Optional.of(database.name()), idle.database());
            assertEquals(OptionalInt.empty(), idle.activePid());
            assertTrue(idle.confirmedFlushLsn().filter(Lsn::isValid).isPresent());
            assertEquals(major >= 13 ? Optional.of("reserved") : Optional.empty(), idle.walStatus());
            assertFalse(idle.isLost());
            assertFalse(idle.twoPhase());
            assertFalse(idle.failover());
            CopyDual stream = replication
                    .connection()
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyDual("START_REPLICATION SLOT \"" + name
                            + "\" LOGICAL 0/0 (\"proto_version\" '1', \"publication_names\" '\"p\"')");
            SlotFacts active = server.slot(name).orElseThrow();
            assertTrue(active.activePid().isPresent());
            assertEquals(Optional.of("pgapply/test"), active.activeApplication());
            stream.endCopy();
            replication.connection().createStatement().execute("DROP_REPLICATION_SLOT \"" + name + "\"");
            assertEquals(Optional.empty(), server.slot(name));
        }
    }
}
