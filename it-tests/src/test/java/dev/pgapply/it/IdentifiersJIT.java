package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import java.text.Normalizer;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Field cases, group J: encodings and identifiers.
final class IdentifiersJIT {

    /// 63 bytes of UTF-8, as many as a name may have.
    private static final String LONGEST = "я".repeat(31) + "x";

    private static final String COMPOSED = "caf\u00e9";
    private static final String DECOMPOSED = Normalizer.normalize(COMPOSED, Normalizer.Form.NFD);

    /// B066, B068
    @Test
    void namesAreTakenLiterally() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE SCHEMA \"схема\"",
                    "CREATE TABLE \"схема\".\"表😀é\" (\"ключ\" int PRIMARY KEY, \"naïve\" text, \"ﬁ\" text)",
                    "CREATE TABLE \"" + LONGEST + "\" (\"" + LONGEST + "\" int PRIMARY KEY, v text)",
                    "CREATE TABLE \"" + COMPOSED + "\" (id int PRIMARY KEY, \"" + COMPOSED + "\" text, \"" + DECOMPOSED
                            + "\" text)",
                    "CREATE TABLE \"" + DECOMPOSED + "\" (id int PRIMARY KEY, v text)",
                    "CREATE TABLE cs (\"Id\" int PRIMARY KEY, id int, \"ID\" text)",
                    "CREATE TABLE \"Cs\" (id int PRIMARY KEY)",
                    "CREATE TABLE \"say \"\"hi\"\"; it's\" (\"a\"\"b\" int PRIMARY KEY, \"c'd\\\" text, \"select\" text)");
            insert(replication, 1);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                insert(replication, 2);
                insert(replication, 3);
                replication
                        .source()
                        .execute(
                                "UPDATE \"схема\".\"表😀é\" SET \"naïve\" = 'x' WHERE \"ключ\" = 1",
                                "UPDATE \"" + LONGEST + "\" SET v = 'x', \"" + LONGEST + "\" = 10 WHERE \"" + LONGEST
                                        + "\" = 1",
                                "UPDATE \"" + COMPOSED + "\" SET \"" + COMPOSED + "\" = 'composed' WHERE id = 1",
                                "UPDATE \"" + DECOMPOSED + "\" SET v = 'decomposed' WHERE id = 2",
                                "UPDATE cs SET \"Id\" = 10, id = 20, \"ID\" = 'x' WHERE \"Id\" = 1",
                                "UPDATE \"Cs\" SET id = 10 WHERE id = 1",
                                "UPDATE \"say \"\"hi\"\"; it's\" SET \"a\"\"b\" = 10, \"c'd\\\" = 'x' WHERE \"a\"\"b\" = 1",
                                "DELETE FROM \"схема\".\"表😀é\" WHERE \"ключ\" = 2",
                                "DELETE FROM \"" + COMPOSED + "\" WHERE id = 2",
                                "DELETE FROM cs WHERE \"Id\" = 2",
                                "TRUNCATE \"Cs\"");
                replication.awaitApplied();
                replication.assertIdentical();
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
            }
        }
    }

    private static void insert(Replication replication, int id) {
        replication
                .source()
                .execute(
                        "INSERT INTO \"схема\".\"表😀é\" VALUES (" + id + ", 'ï', 'ﬁ')",
                        "INSERT INTO \"" + LONGEST + "\" VALUES (" + id + ", 'v')",
                        "INSERT INTO \"" + COMPOSED + "\" VALUES (" + id + ", 'c', 'd')",
                        "INSERT INTO \"" + DECOMPOSED + "\" VALUES (" + id + ", 'v')",
                        "INSERT INTO cs VALUES (" + id + ", " + 10 * id + ", 'text')",
                        "INSERT INTO \"Cs\" VALUES (" + id + ")",
                        "INSERT INTO \"say \"\"hi\"\"; it's\" VALUES (" + id + ", 'c', 's')");
    }
}
