package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription;
import org.junit.jupiter.api.Test;

/// 014_binary: values in binary form, asked for by name, and what happens where a type cannot travel so.
final class Binary014IT {

    private static final String NUMBERS = "CREATE TABLE numbers (a int PRIMARY KEY, b numeric, c float8, d bigint)";
    private static final String ARRAYS = "CREATE TABLE arrays (id int PRIMARY KEY, b int[], c numeric[], d text[])";

    /// 014_binary: #111, #112, #113
    @Test
    void copyAndStreamCarryTheSameValuesInEitherFormat() {
        try (Replication replication = Replication.newest()) {
            replication.both(NUMBERS, ARRAYS);
            replication
                    .source()
                    .execute(
                            "INSERT INTO numbers VALUES (1, 1.20, 1.3, 10), (2, 2.2, '-Infinity', -20), (3, NULL, NULL, NULL)",
                            "INSERT INTO arrays VALUES (1, '{1,2,3}', '{1.1,1.20,NULL}', '{one,\"t,w\",three}'),"
                                    + " (2, '{}', NULL, '{NULL,\"\"}'), (3, '[0:1]={4,5}', '{{1,2},{3,4}}', NULL)");
            replication.with(setup -> setup.binary = Subscription.Binary.ON).applyUntilNow();
            replication.assertIdentical();
            replication
                    .source()
                    .execute(
                            "INSERT INTO numbers VALUES (4, 3.2, 3.3, 30), (5, 'NaN', 'NaN', NULL)",
                            "UPDATE numbers SET b = 42, c = NULL WHERE a = 1",
                            "UPDATE numbers SET c = -0.0::float8 WHERE a = 3",
                            "INSERT INTO arrays VALUES (4, '{NULL}', '{}', '{a,b}')",
                            "UPDATE arrays SET b[2] = 42, c = NULL WHERE id = 1",
                            "DELETE FROM arrays WHERE id = 2");
            replication.applyUntilNow();
            replication.assertIdentical();
            for (Subscription.Binary format :
                    new Subscription.Binary[] {Subscription.Binary.OFF, Subscription.Binary.ON, Subscription.Binary.AUTO
                    }) {
                replication
                        .source()
                        .execute(
                                "INSERT INTO numbers SELECT max(a) + 1, max(a) / 7.0, max(a) / 3.0, 9 FROM numbers",
                                "INSERT INTO arrays SELECT max(id) + 1, ARRAY[max(id), NULL], '{0.00}', '{x}' FROM arrays");
                replication.with(setup -> setup.binary = format).applyUntilNow();
                replication.assertIdentical();
            }
        }
    }

    /// 014_binary: #114
    @Test
    void typeWithoutBinaryFormIsRefusedWhenBinaryIsDemandedAndTravelsAsTextOtherwise() {
        try (Replication replication = Replication.newest()) {
            replication.both(
                    "CREATE TYPE word",
                    "CREATE FUNCTION word_in(cstring, oid, integer) RETURNS word LANGUAGE internal IMMUTABLE STRICT"
                            + " AS 'varcharin'",
                    "CREATE FUNCTION word_out(word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'varcharout'",
                    "CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, ALIGNMENT = integer, STORAGE = main)",
                    "CREATE TABLE words (id int PRIMARY KEY, w word)",
                    "CREATE TABLE automatic (id int PRIMARY KEY, w word)");
            replication
                    .source()
                    .execute(
                            "CREATE PUBLICATION p FOR TABLE words",
                            "CREATE PUBLICATION q FOR TABLE automatic",
                            "INSERT INTO words VALUES (1, 'a')",
                            "INSERT INTO automatic VALUES (1, 'a')");
            replication.with(setup -> {
                setup.binary = Subscription.Binary.ON;
                setup.publications = java.util.List.of("p");
            });
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertTrue(String.valueOf(refused.getMessage()).contains("no binary "), refused::getMessage);
            }
            assertEquals(0, replication.target().count("words"));
            replication.both(
                    "CREATE FUNCTION word_send(word) RETURNS bytea LANGUAGE internal STABLE STRICT AS 'varcharsend'",
                    "CREATE FUNCTION word_recv(internal, oid, integer) RETURNS word LANGUAGE internal STABLE STRICT"
                            + " AS 'varcharrecv'",
                    "ALTER TYPE word SET (SEND = word_send, RECEIVE = word_recv)");
            replication.applyUntilNow();
            replication.source().execute("INSERT INTO words VALUES (2, 'b'), (3, NULL)");
            replication.applyUntilNow();
            replication.assertIdentical("words");
            replication.both("ALTER TYPE word SET (SEND = NONE, RECEIVE = NONE)");
            replication.with(setup -> {
                setup.binary = Subscription.Binary.AUTO;
                setup.publications = java.util.List.of("p", "q");
            });
            replication.applyUntilNow();
            replication.source().execute("UPDATE automatic SET w = 'c'", "UPDATE words SET w = 'd' WHERE id = 3");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }

    /// 014_binary: #115
    @Test
    void differingTypesFailInBinaryAndPassAsText() {
        try (Replication replication = Replication.newest()) {
            replication
                    .source()
                    .execute(
                            "CREATE TABLE t (a bigint PRIMARY KEY, b bigint)", "INSERT INTO t VALUES (1, 10), (2, 20)");
            replication.target().execute("CREATE TABLE t (a int PRIMARY KEY, b int)");
            replication.with(setup -> setup.binary = Subscription.Binary.ON);
            try (EngineRun run = replication.engine()) {
                ApplyException refused = run.awaitFailure();
                assertEquals(ErrorCode.CHANGE_REJECTED, refused.code());
                assertTrue(
                        String.valueOf(refused.getMessage()).contains("incorrect binary data format"),
                        refused::getMessage);
            }
            replication.with(setup -> setup.binary = Subscription.Binary.AUTO).applyUntilNow();
            replication.assertIdentical();
            replication.source().execute("INSERT INTO t VALUES (3, 30)", "UPDATE t SET b = 11 WHERE a = 1");
            replication.with(setup -> setup.binary = Subscription.Binary.ON);
            try (EngineRun run = replication.engine()) {
                assertEquals(ErrorCode.CHANGE_REJECTED, run.awaitFailure().code());
            }
            replication.with(setup -> setup.binary = Subscription.Binary.OFF).applyUntilNow();
            replication.assertIdentical();
        }
    }
}
