package dev.pgapply.apply.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.assertFalse;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.Relation;
import dev.pgapply.decoder.ReplicaIdentity;
import dev.pgapply.decoder.TableName;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TableGateTest {

    private static final TableName OLD = new TableName("public", "old");
    private static final TableName FRESH = new TableName("public", "fresh");
    private static final TableName GONE = new TableName("public", "gone");

    private final TableGate gate =
            new TableGate(
                    Lsn.parse("0/200"),
                    Lsn.parse("0/250"),
                    Map.of(OLD, Lsn.parse("0/100"), FRESH, Lsn.parse("0/300")), Set.of(GONE));

    @ParameterizedTest
    @CsvSource({
        "old,   0/1FF, ALREADY_THERE",
        "old,   0/200, APPLY",
        "old,   0/300, APPLY",
        "fresh, 0/200, ALREADY_THERE",
        "fresh, 0/2FF, ALREADY_THERE",
        "fresh, 0/300, APPLY",
        "fresh, FFFFFFFF/0, APPLY",
        "gone,  0/300, NOT_FOLLOWED",
        "other, 0/300, UNKNOWN_TABLE",
    })
    void aChangeIsAppliedFromItsTablesCopyAndTheProgressOn(String table, String finalLsn, TableGate.Decision decision) {
        assertEquals(decision, gate.decide(relation(table), Lsn.parse(finalLsn)));
    }

    @Test
    void aTableIsKnownByItsNameWhateverItsOid() {
        assertEquals(TableGate.Decision.APPLY, gate.decide(relation("old"), Lsn.parse("0/200")));
        assertEquals(TableGate.Decision.APPLY, gate.decide(relation("old"), Lsn.parse("0/200")));
    }

    private static Relation relation(String name) {
        return new Relation(name.hashCode(), new TableName("public", name), ReplicaIdentity.DEFAULT, List.of());
    }

    @Test
    void whatWasConfirmedIsDealtWithThoughNoRowCameWithIt() {
        assertTrue(gate.isDone(Lsn.parse("0/24F")));
        assertFalse(gate.isDone(Lsn.parse("0/250")));
    }

    @Test
    void aChangeIsSettledByItsCommitFromTheLastCopyOn() {
        assertEquals(Lsn.parse("0/300"), gate.settledFrom());
    }
}
