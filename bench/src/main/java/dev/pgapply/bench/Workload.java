package dev.pgapply.bench;

import java.util.List;

/// A backlog to drain. Statements run on the source inside the database; `backlog` is one that commits by
/// itself (`CALL`), so that making it costs no round trips.
///
/// @param tables creates the tables, on source and targets
/// @param fill fills them, on source and targets alike
/// @param procedure creates the procedure that makes the backlog, on the source
/// @param backlog calls it
record Workload(String name, List<String> tables, List<String> fill, String procedure, String backlog) {

    static final List<Workload> ALL = List.of(
            pgbench(20_000, "pgbench-20k"),
            pgbench(200_000, "pgbench-200k"),
            inserts("inserts-2M-1000-each", 2_000, 1_000),
            inserts("inserts-500k-single", 500_000, 1),
            inserts("inserts-2M-in-one", 1, 2_000_000),
            changes(
                    "updates-500k-100-each",
                    "UPDATE item SET v = v + 1 WHERE id BETWEEN i * 100 + 1 AND i * 100 + 100"),
            changes("deletes-500k-100-each", "DELETE FROM item WHERE id BETWEEN i * 100 + 1 AND i * 100 + 100"));

    /// TPC-B as pgbench has it: three updates by key and an insert per transaction.
    private static Workload pgbench(int transactions, String name) {
        return new Workload(
                name,
                List.of(
                        "CREATE TABLE branches (bid int PRIMARY KEY, bbalance int, filler char(88))",
                        "CREATE TABLE tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84))",
                        "CREATE TABLE accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
                        "CREATE TABLE history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))"),
                List.of(
                        "INSERT INTO branches SELECT g, 0, '' FROM generate_series(1, 10) g",
                        "INSERT INTO tellers SELECT g, 1 + g / 10, 0, '' FROM generate_series(1, 100) g",
                        "INSERT INTO accounts SELECT g, 1 + g / 100000, 0, '' FROM generate_series(1, 1000000) g"),
                """
                CREATE PROCEDURE backlog() LANGUAGE plpgsql AS $$
                DECLARE a int; t int; b int; d int;
                BEGIN
                  FOR i IN 1..%d LOOP
                    a := 1 + (random() * 999999)::int; t := 1 + (random() * 99)::int; b := 1 + (random() * 9)::int;
                    d := (random() * 10000)::int - 5000;
                    UPDATE accounts SET abalance = abalance + d WHERE aid = a;
                    UPDATE tellers SET tbalance = tbalance + d WHERE tid = t;
                    UPDATE branches SET bbalance = bbalance + d WHERE bid = b;
                    INSERT INTO history VALUES (t, b, a, d, clock_timestamp(), NULL);
                    COMMIT;
                  END LOOP;
                END $$
                """.formatted(transactions),
                "CALL backlog()");
    }

    private static Workload inserts(String name, int transactions, int rowsEach) {
        return new Workload(
                name,
                List.of("CREATE TABLE item (id bigint PRIMARY KEY, v int, t text)"),
                List.of(),
                """
                CREATE PROCEDURE backlog() LANGUAGE plpgsql AS $$
                BEGIN
                  FOR i IN 0..%d LOOP
                    INSERT INTO item SELECT i::bigint * %d + g, g, 'row ' || g FROM generate_series(1, %d) g;
                    COMMIT;
                  END LOOP;
                END $$
                """.formatted(transactions - 1, rowsEach, rowsEach),
                "CALL backlog()");
    }

    private static Workload changes(String name, String statement) {
        return new Workload(
                name,
                List.of("CREATE TABLE item (id bigint PRIMARY KEY, v int, t text)"),
                List.of("INSERT INTO item SELECT g, g, 'row ' || g FROM generate_series(1, 500000) g"),
                """
                CREATE PROCEDURE backlog() LANGUAGE plpgsql AS $$
                BEGIN
                  FOR i IN 0..4999 LOOP
                    %s;
                    COMMIT;
                  END LOOP;
                END $$
                """.formatted(statement),
                "CALL backlog()");
    }
}
