package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.EngineEvent;
import dev.pgapply.cli.embedded.ServerException;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 034_temporal: keys WITHOUT OVERLAPS (18 and newer) identify rows like any other key.
final class Temporal034IT {

    private static final List<String> TABLES = List.of("no_key", "pk", "uq");

    private static final String[] DDL = {
        "CREATE TABLE no_key (id int4range, valid_at daterange, a text)",
        "CREATE TABLE pk (id int4range, valid_at daterange, a text, PRIMARY KEY (id, valid_at WITHOUT OVERLAPS))",
        "CREATE TABLE uq (id int4range NOT NULL, valid_at daterange NOT NULL, a text,"
                + " UNIQUE (id, valid_at WITHOUT OVERLAPS))",
    };

    /// 034_temporal: #261, #262, #263
    @Test
    void rowsAreFoundByATemporalPrimaryKey() {
        try (Replication replication = Replication.newest()) {
            replication.both(DDL);
            fill(replication, "DEFAULT");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                insertMore(replication);
                for (String table : List.of("no_key", "uq")) {
                    assertThrows(
                            ServerException.class, () -> replication.source().execute(updates(table)));
                }
                replication.source().execute(updates("pk"));
                assertAllThere(replication, run);
            }
        }
    }

    /// 034_temporal: #265
    @Test
    void rowsAreFoundByAllTheirValues() {
        try (Replication replication = Replication.newest()) {
            replication.both(DDL);
            fill(replication, "FULL");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                insertMore(replication);
                TABLES.forEach(table -> replication.source().execute(updates(table)));
                assertAllThere(replication, run);
            }
        }
    }

    /// 034_temporal: #266
    @Test
    void rowsAreFoundByAChosenTemporalIndex() {
        try (Replication replication = Replication.newest()) {
            replication.both(DDL);
            replication.both(
                    "ALTER TABLE pk REPLICA IDENTITY USING INDEX pk_pkey",
                    "ALTER TABLE uq REPLICA IDENTITY USING INDEX uq_id_valid_at_key");
            fill(replication, "");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                insertMore(replication);
                List.of("pk", "uq").forEach(table -> replication.source().execute(updates(table)));
                assertAllThere(replication, run);
            }
        }
    }

    /// 034_temporal: #267
    @Test
    void rowsWithoutIdentityAreOnlyInserted() {
        try (Replication replication = Replication.newest()) {
            replication.both(DDL);
            fill(replication, "NOTHING");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                insertMore(replication);
                for (String table : TABLES) {
                    assertThrows(
                            ServerException.class, () -> replication.source().execute(updates(table)));
                }
                assertAllThere(replication, run);
            }
        }
    }

    private static void fill(Replication replication, String identity) {
        for (String table : TABLES) {
            if (!identity.isEmpty()) {
                replication.source().execute("ALTER TABLE " + table + " REPLICA IDENTITY " + identity);
            }
            replication.source().execute("INSERT INTO " + table + " VALUES ('[1,2)', '[2000-01-01,2010-01-01)', 'a')");
        }
    }

    private static void insertMore(Replication replication) {
        for (String table : TABLES) {
            replication
                    .source()
                    .execute("INSERT INTO " + table + " VALUES ('[2,3)', '[2000-01-01,2010-01-01)', 'a'),"
                            + " ('[2,3)', '[2010-01-01,2020-01-01)', 'b'), ('[3,4)', '[2000-01-01,)', 'a'),"
                            + " ('[4,5)', '[2000-01-01,2010-01-01)', 'a')");
        }
    }

    private static String[] updates(String table) {
        return new String[] {
            "UPDATE " + table + " SET a = 'x' WHERE id = '[2,3)' AND lower(valid_at) = '2000-01-01'",
            "UPDATE " + table + " SET valid_at = '[2011-01-01,2020-01-01)' WHERE id = '[2,3)' AND a = 'b'",
            "UPDATE " + table + " SET id = '[30,31)' WHERE id = '[4,5)'",
            "DELETE FROM " + table + " WHERE id = '[3,4)'",
        };
    }

    private static void assertAllThere(Replication replication, EngineRun run) {
        replication.awaitApplied();
        replication.assertIdentical();
        assertTrue(run.events(EngineEvent.ConflictSkipped.class).isEmpty(), "no row was missed");
        assertEquals(replication.source().count("pk"), replication.target().count("pk"));
        run.assertRunning();
    }
}
