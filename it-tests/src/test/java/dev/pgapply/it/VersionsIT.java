package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.EngineEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The main job in small between servers of different versions, upwards and downwards.
final class VersionsIT {

    private static final String LARGE = "(SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g)";

    private static final String[] STRUCTURE = {
        "CREATE TABLE keyed (id int PRIMARY KEY, v text, big text)",
        "CREATE TABLE bag (a int, b text, c numeric)",
        "ALTER TABLE bag REPLICA IDENTITY FULL",
        "CREATE TABLE cut (a int PRIMARY KEY)",
        """
        CREATE TABLE types (id bigint PRIMARY KEY, n numeric, j jsonb, js json, i int[], t text[],
            ts timestamptz, tz timestamp, d date, tm time, iv interval, u uuid, by bytea, f4 float4, f8 float8, b bool,
            r int4range, ine inet, bits varbit, c char(5), m money, pt point, o oid)""",
        "ALTER TABLE keyed ALTER COLUMN big SET STORAGE EXTERNAL"
    };

    private static final String[] OWN_TYPES = {
        "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE TABLE own_types (id int PRIMARY KEY, e mood, es mood[], p positive)",
        "INSERT INTO own_types VALUES (1, 'ok', '{sad,NULL,happy}', 1), (2, 'sad', NULL, 2), (3, NULL, '{}', NULL)"
    };

    private static final String ROW = """
            INSERT INTO types SELECT g, 12345678901234567890.0123456789 / g,
              '{"a": [1, 2.50, null, "ö"]}', '{ "z":1,  "a":1 }', ARRAY[1, NULL, g], '{"x y","",NULL,"\\"q\\""}',
              '2024-02-29 12:34:56.789012+02', '0044-03-15 00:00:00 BC', 'infinity', '24:00:00',
              '1 year 2 mons -3 days 04:05:06.7', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x00ff5c', 1.1::float4 / g,
              0.1::float8 * g, g %% 2 = 0, '[1,10)', '10.0.0.1/24', B'1011', 'ab', '12.34', '(1,2.5)', 42
            FROM generate_series(%d, %d) g""";

    /// @param ownTypes types that a user has made are among the columns: they keep the stream from being
    ///     binary, which an older source knows nothing of anyway
    @ParameterizedTest
    @CsvSource({"10, 18, true", "14, 16, false", "16, 14, false", "18, 15, true", "13, 10, true"})
    void everythingIsCopiedFollowedAndResumed(int source, int target, boolean ownTypes) {
        try (Replication replication = Replication.between(source, target)) {
            replication.both(STRUCTURE);
            if (ownTypes) {
                replication.both(OWN_TYPES);
                replication.target().execute("TRUNCATE own_types");
            }
            replication
                    .source()
                    .execute(
                            "INSERT INTO keyed SELECT g, 'row ' || g, repeat('x', 3000) FROM generate_series(1, 200) g",
                            "INSERT INTO bag VALUES (1, NULL, 1.10), (1, NULL, 1.10), (NULL, 'x', 'NaN'), (2, 'y', NULL)",
                            "INSERT INTO cut VALUES (1), (2)",
                            ROW.formatted(1, 20));
            try (EngineRun run = replication.engine()) {
                replication.awaitSeen();
                replication.assertIdentical();
                replication.source().execute(changes(source));
                if (ownTypes) {
                    replication
                            .source()
                            .execute(
                                    "UPDATE own_types SET e = 'happy', es = es || 'sad'::mood, p = 7 WHERE id = 1",
                                    "DELETE FROM own_types WHERE e = 'sad'",
                                    "INSERT INTO own_types VALUES (4, 'sad', '{ok}', 4)");
                }
                replication.awaitSeen();
                replication.assertIdentical();
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
                run.assertRunning();
            }
            replication
                    .source()
                    .execute(
                            ROW.formatted(31, 35),
                            "UPDATE keyed SET id = -id WHERE id > 195",
                            "DELETE FROM bag WHERE a = 2");
            replication.applyUntilNow();
            replication.assertIdentical();
            assertEquals(
                    "200 2 1",
                    replication
                            .target()
                            .query("SELECT concat_ws(' ', (SELECT count(*) FROM keyed), (SELECT count(*) FROM bag),"
                                    + " (SELECT count(*) FROM cut))")
                            .orElseThrow());
        }
    }

    private static String[] changes(int source) {
        List<String> changes = new ArrayList<>(List.of(
                "INSERT INTO keyed VALUES (1001, 'new', " + LARGE + "), (1002, NULL, '')",
                "UPDATE keyed SET v = 'kept large' WHERE id = 1001",
                "UPDATE keyed SET v = 'changed', big = " + LARGE + " WHERE id <= 10",
                "UPDATE keyed SET id = id + 5000 WHERE id BETWEEN 20 AND 30",
                "DELETE FROM keyed WHERE id IN (40, 41)",
                "DELETE FROM bag WHERE ctid = '(0,2)'",
                "UPDATE bag SET b = 'z' WHERE c = 'NaN'",
                "DELETE FROM bag WHERE a = 1",
                "INSERT INTO bag VALUES (3, 'w', 1.100)",
                ROW.formatted(21, 30),
                "UPDATE types SET n = 'NaN', f8 = '-Infinity', f4 = 'NaN', j = NULL WHERE id <= 5",
                "UPDATE types SET id = id + 100 WHERE id = 6",
                "DELETE FROM types WHERE id = 7"));
        if (source >= 11) {
            changes.add("TRUNCATE cut");
        } else {
            changes.add("DELETE FROM cut");
        }
        changes.add("INSERT INTO cut VALUES (3)");
        return changes.toArray(String[]::new);
    }
}
