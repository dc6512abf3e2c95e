package dev.pgapply.it;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// One table of a random test: how it is made, and statements that change it at random. Identifiers are small
/// numbers, so that rows meet again and again.
enum RandomTable {
    PLAIN("(id int PRIMARY KEY, v int, t text)"),
    ONLY_KEY("(id int PRIMARY KEY)"),
    PAIR("(id int, b text, v text, PRIMARY KEY (id, b))") {
        @Override
        String insert(Random random, String table, String id) {
            return insert(table, "id, b, v", id + ", 'b' || " + id + " % 3, " + text(random));
        }
    },
    TEXT_KEY("(id text PRIMARY KEY, v text)") {
        @Override
        String id(Random random) {
            return "E'k\\'\\\\, {}\"\\n" + random.nextInt(IDS) + "'";
        }

        @Override
        String insert(Random random, String table, String id) {
            return insert(table, "id, v", id + ", " + text(random));
        }

        @Override
        String update(Random random, String table, String where) {
            return "UPDATE " + table + " SET v = " + text(random) + where;
        }

        @Override
        String move(Random random, String table, String id, String free) {
            return "UPDATE " + table + " SET id = id || '" + random.nextInt(1_000) + "' WHERE id = " + id;
        }
    },
    NUMERIC_KEY("(id numeric PRIMARY KEY, v int, t text)"),
    NO_KEY("(id int, v int, t text)") {
        @Override
        String afterwards(String table, boolean source) {
            return source ? "ALTER TABLE " + table + " REPLICA IDENTITY FULL" : "";
        }

        @Override
        String insert(Random random, String table, String id) {
            return "INSERT INTO " + table + " VALUES (" + id + ", " + random.nextInt(3) + ", 't')";
        }
    },
    FULL("(id int PRIMARY KEY, v int, t text)") {
        @Override
        String afterwards(String table, boolean source) {
            return "ALTER TABLE " + table + " ALTER t SET STORAGE EXTERNAL" + (source ? ", REPLICA IDENTITY FULL" : "");
        }

        @Override
        String text(Random random) {
            return large(random);
        }
    },
    KEY_ON_TARGET_ONLY("(id int NOT NULL, v int, t text)") {
        @Override
        String afterwards(String table, boolean source) {
            return "ALTER TABLE " + table + (source ? " REPLICA IDENTITY FULL" : " ADD PRIMARY KEY (id)");
        }

        @Override
        String insert(Random random, String table, String id) {
            return "INSERT INTO " + table + " SELECT " + id + ", 1, " + text(random) + " WHERE NOT EXISTS (SELECT FROM "
                    + table + " WHERE id = " + id + ")";
        }

        @Override
        String move(Random random, String table, String id, String free) {
            return "UPDATE " + table + " SET id = " + free + " WHERE id = " + id + " AND NOT EXISTS (SELECT FROM "
                    + table + " WHERE id = " + free + ")";
        }
    },
    SECOND_KEY("(id int PRIMARY KEY, v int UNIQUE, t text)") {
        @Override
        String update(Random random, String table, String where) {
            return "UPDATE " + table + " SET " + (random.nextBoolean() ? "v = " + random.nextInt(IDS) : "t = 't'")
                    + where;
        }
    },
    DEFERRABLE("(id int PRIMARY KEY, v int UNIQUE DEFERRABLE INITIALLY DEFERRED, t text)") {
        @Override
        String insert(Random random, String table, String id) {
            return insert(table, "id, v, t", id + ", " + id + ", " + text(random));
        }

        @Override
        String update(Random random, String table, String where) {
            int one = random.nextInt(IDS);
            int other = random.nextInt(IDS);
            return "UPDATE " + table + " AS t SET v = o.v FROM " + table + " AS o WHERE t.id IN (" + one + ", " + other
                    + ") AND o.id IN (" + one + ", " + other + ") AND (SELECT count(*) FROM " + table
                    + " WHERE id IN (" + one + ", " + other + ")) = 2 AND o.id <> t.id";
        }
    },
    TOAST("(id int PRIMARY KEY, v int, t text, t2 text, t3 text)") {
        @Override
        String afterwards(String table, boolean source) {
            return "ALTER TABLE " + table + " ALTER t SET STORAGE EXTERNAL, ALTER t2 SET STORAGE EXTERNAL,"
                    + " ALTER t3 SET STORAGE EXTERNAL";
        }

        @Override
        String insert(Random random, String table, String id) {
            return insert(
                    table, "id, v, t, t2, t3", id + ", 1, " + text(random) + ", " + text(random) + ", " + text(random));
        }

        @Override
        String update(Random random, String table, String where) {
            String set = random.nextInt(3) == 0
                    ? "v = v + 1"
                    : (random.nextBoolean() ? "t" : random.nextBoolean() ? "t2" : "t3") + " = " + text(random);
            return "UPDATE " + table + " SET " + set + where;
        }

        @Override
        String text(Random random) {
            return large(random);
        }
    },
    TYPES("(id uuid PRIMARY KEY, v numeric(10,2), t text, j jsonb, ts timestamptz, by bytea, b bool, c char(5),"
            + " r int4range, d double precision, i interval, x bit(3), dt date)") {
        @Override
        String id(Random random) {
            return "'00000000-0000-0000-0000-0000000000" + (10 + random.nextInt(IDS)) + "'";
        }

        @Override
        String insert(Random random, String table, String id) {
            return insert(table, "id, v, t", id + ", " + random.nextInt(100) + "." + random.nextInt(9) + ", 't'");
        }

        @Override
        String update(Random random, String table, String where) {
            String set = switch (random.nextInt(6)) {
                case 0 -> "v = v * 1.1, j = '{\"a\": [1, \"\\\"x\\\\\"]}', ts = 'infinity'";
                case 1 -> "by = '\\x00ff5c22', b = true, c = 'ab', t = ''";
                case 2 -> "r = '[3,7)', d = 'NaN', i = '1 mon 2 days', x = B'101'";
                case 3 -> "by = NULL, b = NULL, c = NULL, t = NULL, j = 'null', dt = '2026-02-28'";
                case 4 -> "d = 0.1 + 0.2, ts = '2026-01-01 00:00:00.123456+00', dt = NULL";
                default -> "t = " + text(random);
            };
            return "UPDATE " + table + " SET " + set + where;
        }

        @Override
        String move(Random random, String table, String id, String free) {
            return "UPDATE " + table + " SET id = 'a0000000-0000-0000-0000-000000000" + (100 + random.nextInt(900))
                    + "' WHERE id = " + id;
        }
    },
    ARRAYS("(id bigint PRIMARY KEY, v int, t text[], p point, m int[][])") {
        @Override
        String insert(Random random, String table, String id) {
            return insert(table, "id, v, t", id + ", 1, ARRAY['a', NULL, '{\"}', '\\']");
        }

        @Override
        String update(Random random, String table, String where) {
            return "UPDATE " + table + " SET v = v + 1, p = point(1, 2), m = '{{1,2},{3,4}}'" + where;
        }
    },
    WIDE("(id int PRIMARY KEY, v int, t text, c1 int, c2 text, c3 text, c4 date, c5 int, c6 text, c7 text, c8 text,"
            + " c9 text, c10 numeric, c11 bool, c12 text, c13 text, c14 text, c15 jsonb, c16 int[], c17 text)") {
        @Override
        String update(Random random, String table, String where) {
            int column = List.of(2, 3, 6, 7, 8, 9, 12, 13, 14, 17).get(random.nextInt(10));
            String value = random.nextBoolean() ? text(random) : large(random);
            return "UPDATE " + table + " SET c" + column + " = " + value + ", c15 = '{\"\\\"\": [\"(,)\"]}'" + where;
        }

        @Override
        String afterwards(String table, boolean source) {
            return "ALTER TABLE " + table + " DROP COLUMN c1, ALTER c2 SET STORAGE EXTERNAL, ALTER c3 SET STORAGE"
                    + " EXTERNAL, ALTER c17 SET STORAGE EXTERNAL";
        }
    },
    ALWAYS_IDENTITY("(id int PRIMARY KEY, v int, t text, g int GENERATED ALWAYS AS IDENTITY)"),
    EXCLUSION("(id int PRIMARY KEY, v int, t text, EXCLUDE (v WITH =))") {
        @Override
        String insert(Random random, String table, String id) {
            return "INSERT INTO " + table + " VALUES (" + id + ", " + random.nextInt(1_000) + ", 't')";
        }

        @Override
        String update(Random random, String table, String where) {
            return "UPDATE " + table + " SET t = " + text(random) + where;
        }
    },
    TRIGGERED("(id int PRIMARY KEY, v int, t text)") {
        @Override
        String afterwards(String table, boolean source) {
            if (source) {
                return "";
            }
            return "CREATE FUNCTION " + table + "_stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
                    + " CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON " + table + " FOR EACH ROW EXECUTE PROCEDURE "
                    + table + "_stamp(); ALTER TABLE " + table + " ENABLE ALWAYS TRIGGER stamp";
        }
    },
    GENERATED("(id int PRIMARY KEY, v int, t text, g int GENERATED ALWAYS AS (v * 2) STORED)") {
        @Override
        int since() {
            return 12;
        }
    },
    PARTITIONED("(id int PRIMARY KEY, v int, t text) PARTITION BY RANGE (id)") {
        @Override
        String afterwards(String table, boolean source) {
            return "CREATE TABLE " + table + "_low PARTITION OF " + table + " FOR VALUES FROM (MINVALUE) TO (6);"
                    + " CREATE TABLE " + table + "_high PARTITION OF " + table + " FOR VALUES FROM (6) TO (MAXVALUE)";
        }

        @Override
        int since() {
            return 11;
        }
    };

    /// So many different rows.
    static final int IDS = 12;

    private final String definition;

    RandomTable(String definition) {
        this.definition = definition;
    }

    /// The first major version that has it.
    int since() {
        return 10;
    }

    String create(String table) {
        return "CREATE TABLE " + table + " " + definition;
    }

    /// What follows its creation; empty for nothing.
    String afterwards(String table, boolean source) {
        return "";
    }

    /// Some statements, each of which may fail.
    List<String> change(Random random, String table) {
        List<String> statements = new ArrayList<>();
        String id = id(random);
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> statements.add(insert(random, table, id));
            case 4, 5, 6, 7, 8 -> statements.add(update(random, table, " WHERE id = " + id));
            case 9, 10 -> statements.add("DELETE FROM " + table + " WHERE id = " + id);
            case 11 -> {
                for (int i = 0; i < 10; i++) {
                    statements.add(insert(random, table, id(random)));
                }
            }
            case 12 -> statements.add(update(random, table, ""));
            case 13 -> statements.add(move(random, table, id, Integer.toString(IDS + random.nextInt(1_000))));
            case 14 -> {
                statements.add("DELETE FROM " + table + " WHERE id = " + id);
                statements.add(insert(random, table, id));
                statements.add(update(random, table, " WHERE id = " + id));
                if (random.nextBoolean()) {
                    statements.add("DELETE FROM " + table + " WHERE id = " + id);
                }
            }
            default -> {
                if (random.nextInt(8) == 0) {
                    statements.add("TRUNCATE " + table);
                } else {
                    statements.add("DELETE FROM " + table + " WHERE id IN (" + id + ", " + id(random) + ")");
                }
            }
        }
        return statements;
    }

    String id(Random random) {
        return Integer.toString(random.nextInt(IDS));
    }

    String insert(Random random, String table, String id) {
        return switch (this) {
            case ONLY_KEY -> insert(table, "id", id);
            default -> insert(table, "id, v, t", id + ", " + random.nextInt(IDS) + ", " + text(random));
        };
    }

    static String insert(String table, String columns, String values) {
        return "INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ") ON CONFLICT (id"
                + (columns.startsWith("id, b") ? ", b" : "") + ") DO NOTHING";
    }

    String update(Random random, String table, String where) {
        return switch (this) {
            case ONLY_KEY -> "UPDATE " + table + " SET id = id" + where;
            case PAIR -> "UPDATE " + table + " SET v = " + text(random) + where;
            default -> {
                String set = switch (random.nextInt(3)) {
                    case 0 -> "v = v + 1";
                    case 1 -> "t = " + text(random);
                    default -> "v = NULL";
                };
                yield "UPDATE " + table + " SET " + set + where;
            }
        };
    }

    /// Gives a row another key.
    String move(Random random, String table, String id, String free) {
        return "UPDATE " + table + " SET id = " + free + " WHERE id = " + id;
    }

    String text(Random random) {
        return random.nextInt(4) == 0 ? "NULL" : "E'line\\n\\t\\\\. " + random.nextInt(1_000) + " ä\"{}'";
    }

    /// A value that is stored out of line half of the time.
    static String large(Random random) {
        return "repeat('" + random.nextInt(1_000) + "', " + (random.nextBoolean() ? 2 : 1_500) + ")";
    }
}
