package dev.pgapply.bench;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// A backlog to drain. Statements run on the source inside the database; the backlog is made by a procedure that
/// commits by itself, so that making it costs no round trips.
///
/// @param tables creates the tables, on source and targets
/// @param fill fills them, on source and targets alike
/// @param loop what the procedure does again and again, each time followed by COMMIT; `i` counts from 0
/// @param transactions how often it does so
/// @param grouping whether pgapply may group transactions
/// @param delayMillis how long a message takes to the target and back
record Workload(
        String name,
        List<String> tables,
        List<String> fill,
        String loop,
        int transactions,
        boolean grouping,
        int delayMillis) {

    private static final List<String> ITEM = List.of("CREATE TABLE item (id bigint PRIMARY KEY, v int, t text)");

    /// @param scale 1 for the sizes that the goals are for; less for a quick look
    static List<Workload> all(double scale) {
        Workload pgbench = pgbench("pgbench", size(200_000, scale));
        Workload inserts = inserts("inserts", size(2_000, scale), 1_000);
        return List.of(
                pgbench,
                inserts,
                inserts("single-inserts", size(500_000, scale), 1),
                inserts("one-transaction", 1, size(2_000_000, scale)),
                items("updates", "UPDATE item SET v = v + 1 WHERE id BETWEEN i * 100 + 1 AND i * 100 + 100", scale),
                items("deletes", "DELETE FROM item WHERE id BETWEEN i * 100 + 1 AND i * 100 + 100", scale),
                wide(size(1_000, scale)),
                toast(size(3_000, scale)),
                pgbench("pgbench-grouping-off", size(50_000, scale)).ungrouped(),
                pgbench.delayed(10),
                pgbench.delayed(50),
                inserts.delayed(50));
    }

    private static int size(int full, double scale) {
        return Math.max(1, (int) (full * scale));
    }

    private Workload ungrouped() {
        return new Workload(name, tables, fill, loop, transactions, false, delayMillis);
    }

    private Workload delayed(int millis) {
        return new Workload(name + "-" + millis + "ms", tables, fill, loop, transactions, grouping, millis);
    }

    /// Creates the procedure `backlog`.
    String procedure() {
        return """
                CREATE PROCEDURE backlog() LANGUAGE plpgsql AS $$
                DECLARE a int; t int; b int; d int;
                BEGIN
                  FOR i IN 0..%d LOOP
                    %s;
                    COMMIT;
                  END LOOP;
                END $$
                """.formatted(transactions - 1, loop);
    }

    /// TPC-B as pgbench has it: three updates by key and an insert per transaction.
    static Workload pgbench(String name, int transactions) {
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
                a := 1 + (random() * 999999)::int; t := 1 + (random() * 99)::int; b := 1 + (random() * 9)::int;
                d := (random() * 10000)::int - 5000;
                UPDATE accounts SET abalance = abalance + d WHERE aid = a;
                UPDATE tellers SET tbalance = tbalance + d WHERE tid = t;
                UPDATE branches SET bbalance = bbalance + d WHERE bid = b;
                INSERT INTO history VALUES (t, b, a, d, clock_timestamp(), NULL)""",
                transactions,
                true,
                0);
    }

    private static Workload inserts(String name, int transactions, int rowsEach) {
        return new Workload(
                name,
                ITEM,
                List.of(),
                "INSERT INTO item SELECT i::bigint * %d + g, g, 'row ' || g FROM generate_series(1, %d) g"
                        .formatted(rowsEach, rowsEach),
                transactions,
                true,
                0);
    }

    private static Workload items(String name, String statement, double scale) {
        return new Workload(
                name,
                ITEM,
                List.of("INSERT INTO item SELECT g, g, 'row ' || g FROM generate_series(1, 500000) g"),
                statement,
                size(5_000, scale),
                true,
                0);
    }

    /// 50 columns of ten types, 300 rows a transaction.
    private static Workload wide(int transactions) {
        List<String> types = List.of(
                "int",
                "bigint",
                "text",
                "timestamptz",
                "numeric(12,2)",
                "boolean",
                "double precision",
                "uuid",
                "date",
                "varchar(40)");
        List<String> values = List.of(
                "g",
                "g * 1000000007::bigint",
                "'text ' || g",
                "'2026-01-01'::timestamptz + g * interval '1 s'",
                "g / 7.0",
                "g % 2 = 0",
                "g / 3.0",
                "md5(g::text)::uuid",
                "'2026-01-01'::date + g % 1000",
                "'varchar ' || g");
        String columns = IntStream.range(1, 50)
                .mapToObj(i -> "c" + i + " " + types.get(i % types.size()))
                .collect(Collectors.joining(", "));
        String row = IntStream.range(1, 50)
                .mapToObj(i -> values.get(i % values.size()))
                .collect(Collectors.joining(", "));
        return new Workload(
                "wide-inserts",
                List.of("CREATE TABLE wide (id int PRIMARY KEY, " + columns + ")"),
                List.of(),
                "INSERT INTO wide SELECT i * 300 + g, " + row + " FROM generate_series(1, 300) g",
                transactions,
                true,
                0);
    }

    /// Updates beside a value of 10 kB that does not change, 100 a transaction.
    private static Workload toast(int transactions) {
        return new Workload(
                "toast-updates",
                List.of(
                        "CREATE TABLE document (id int PRIMARY KEY, v int, body text)",
                        "ALTER TABLE document ALTER body SET STORAGE EXTERNAL"),
                List.of("INSERT INTO document SELECT g, 0, repeat(md5(g::text), 320) FROM generate_series(1, 30000) g"),
                "UPDATE document SET v = v + 1 WHERE id BETWEEN i % 300 * 100 + 1 AND i % 300 * 100 + 100",
                transactions,
                true,
                0);
    }
}
