package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

/// 012_collation: under a nondeterministic collation of the target, rows are equal whose bytes differ.
final class Collation012IT {

    private static final String COMPOSED = "U&'\\00E4bc'";
    private static final String DECOMPOSED = "U&'\\0061\\0308bc'";

    /// 012_collation: #86, #87
    @Test
    void rowsAreFoundByTheTargetsCollation() {
        try (Replication replication = Replication.newest().with(setup -> setup.copyData = false)) {
            replication
                    .source()
                    .execute(
                            "CREATE TABLE keyed (a text PRIMARY KEY, b text)",
                            "CREATE TABLE keyless (a text, b text)",
                            "ALTER TABLE keyless REPLICA IDENTITY FULL");
            replication
                    .target()
                    .execute(
                            "CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false)",
                            "CREATE TABLE keyed (a text COLLATE loose PRIMARY KEY, b text)",
                            "CREATE TABLE keyless (a text COLLATE loose, b text)");
            for (String table : List.of("keyed", "keyless")) {
                replication.source().execute("INSERT INTO " + table + " VALUES (" + COMPOSED + ", 'foo')");
                replication
                        .target()
                        .execute("INSERT INTO " + table + " VALUES (" + DECOMPOSED + ", 'foo'), ('other', 'foo')");
            }
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.source().execute("UPDATE keyed SET b = 'bar'", "UPDATE keyless SET b = 'bar'");
                replication.awaitSeen();
                for (String table : List.of("keyed", "keyless")) {
                    assertEquals(
                            List.of("bar", "foo"),
                            replication
                                    .target()
                                    .queryAll("SELECT b FROM " + table + " ORDER BY a COLLATE \"C\" = 'other'"));
                }
                replication.source().execute("DELETE FROM keyed", "DELETE FROM keyless");
                replication.awaitSeen();
                assertEquals(List.of("other"), replication.target().queryAll("SELECT a FROM keyed"));
                assertEquals(List.of("other"), replication.target().queryAll("SELECT a FROM keyless"));
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
                run.assertRunning();
            }
        }
    }
}
