package dev.pgapply.it;

import java.util.List;

/// The values that have broken other tools.
final class ValueCases {

    /// Where the extensions are: another schema on each side.
    static final String EXTENSIONS = "§";

    private ValueCases() {}

    static final List<ValueCase> ALL = List.of(
            ValueCase.builtIn(
                    "B001",
                    "ev",
                    "id int PRIMARY KEY, d date, t timestamp, z timestamptz, ds date[], r daterange",
                    """
                    VALUES
                      (1, 'infinity', '-infinity', 'infinity', '{infinity,NULL,2024-02-29}', '[2024-01-01,infinity]'),
                      (2, '-infinity', 'infinity', '-infinity', '{}', '[2024-01-01,)')""",
                    "d, t, z, ds, r"),
            ValueCase.builtIn("B003", "old", "id int PRIMARY KEY, d date, t timestamp, z timestamptz", """
                    VALUES
                      (1, '0001-01-01', '0001-01-01', '0001-01-01'),
                      (2, '1000-02-28', '1000-02-28', '1000-02-28'),
                      (3, '1582-10-10', '1582-10-10', '1582-10-10'),
                      (4, '1883-11-18', '1883-11-18 12:03:57', '1883-11-18 12:03:57'),
                      (5, '1899-12-31', '1899-12-31 23:59:59', '1899-12-31 23:59:59'),
                      (6, '4713-01-01 BC', '4713-01-01 00:00:00 BC', '4713-01-01 00:00:00+00 BC')""", "d, t, z"),
            ValueCase.builtIn("B004", "dst", "id int PRIMARY KEY, t timestamp, z timestamptz", """
                    VALUES
                      (1, '2023-03-12 02:30:00', '2023-03-12 06:30:00+00'),
                      (2, '2023-11-05 01:30:00', '2023-11-05 05:30:00+00'),
                      (3, '2023-11-05 01:30:00', '2023-11-05 06:30:00+00')""", "t, z"),
            ValueCase.builtIn("B005", "tm", "id int PRIMARY KEY, a time(6), b timetz, c time[]", """
                    VALUES
                      (1, '24:00:00', '24:00:00-15:59:59', '{24:00:00,NULL,00:00:00}'),
                      (2, '23:59:59.999999', '23:59:59.999999+15:59:59', '{}'),
                      (3, '00:00:00', '12:00:00+05:45', NULL)""", "a, b, c"),
            ValueCase.builtIn("B007", "iv", "id int PRIMARY KEY, i interval, a interval[]", """
                    VALUES
                      (1, '1 year 2 mons -3 days +04:05:06.789', '{-00:00:00.000001,"178000000 years"}'),
                      (2, '-178000000 years', NULL),
                      (3, '1 mon -1 day +25:00:00', '{}'),
                      (4, '24 hours', NULL),
                      (5, '1 day', NULL),
                      (6, 'infinity', '{-infinity}')""", "i, a"),
            ValueCase.builtIn(
                    "B008",
                    "nn",
                    "id int PRIMARY KEY, n numeric, m numeric(10,2), f float8, r real, a numeric[]",
                    """
                    VALUES
                      (1, 'NaN', 'NaN', 'NaN', 'NaN', '{NaN,1.50,NULL}'),
                      (2, 'Infinity', NULL, '-Infinity', 'Infinity', '{-Infinity}')""",
                    "n, m, f, r, a"),
            ValueCase.builtIn(
                    "B009",
                    "nu",
                    "id int PRIMARY KEY, n numeric, s numeric(5,-2), p numeric(1000,500)",
                    """
                    VALUES
                      (1, ('1' || repeat('0', 131071))::numeric, 7000, 0),
                      (2, ('0.' || repeat('0', 16382) || '1')::numeric, -12300, NULL),
                      (3, 0.000, 0, 1.5),
                      (4, 7000, NULL, NULL),
                      (5, 200141183460469231731687303715884105727, NULL, NULL),
                      (6, repeat('9', 1000)::numeric, NULL, NULL)""",
                    "n, s, p"),
            new ValueCase(
                    "B010",
                    "fl",
                    true,
                    List.of(),
                    "id float8 PRIMARY KEY, v real",
                    """
                    VALUES
                      (-216237.00000035969, 0.1),
                      (5e-324, 1e-45),
                      (1.7976931348623157e308, 3.4028235e38),
                      ('-0', 0),
                      (0.1::float8 + 0.2, '-0'),
                      (0.3, 1)""",
                    List.of("UPDATE @ SET v = 1 WHERE id = 0.1::float8 + 0.2", "DELETE FROM @ WHERE id = 5e-324")),
            new ValueCase(
                    "B011",
                    "mo",
                    true,
                    List.of(),
                    "id int PRIMARY KEY, m money",
                    "VALUES (1, '-92233720368547758.08'), (2, '92233720368547758.07'), (3, '-0.01'), (4, '1,234.50')",
                    List.of(
                            "ALTER TABLE @ REPLICA IDENTITY FULL",
                            "UPDATE @ SET m = '-1.50' WHERE id = 4",
                            "DELETE FROM @ WHERE id = 1")),
            new ValueCase(
                    "B012",
                    "by",
                    true,
                    List.of(),
                    "id bytea PRIMARY KEY, v bytea, a bytea[]",
                    """
                    VALUES
                      ('\\x', '\\x', NULL),
                      ((SELECT decode(string_agg(lpad(to_hex(g), 2, '0'), ''), 'hex') FROM generate_series(0, 255) g),
                       '\\xff00', '{"\\\\x00ff",NULL,"\\\\x"}'),
                      (convert_to('\\xdeadbeef', 'UTF8'), convert_to('\\xdeadbeef', 'UTF8'), '{}'),
                      ('\\x00', '\\x00', '{NULL}'),
                      ('\\x5c2e', '\\x5c2e', NULL)""",
                    List.of(
                            "UPDATE @ SET v = '\\x5c785c2e0a00' WHERE id = convert_to('\\xdeadbeef', 'UTF8')",
                            "UPDATE @ SET v = id WHERE length(id) = 256",
                            "UPDATE @ SET id = id || '\\x0101' WHERE id = '\\x'",
                            "DELETE FROM @ WHERE id = '\\x5c2e'")),
            ValueCase.builtIn(
                    "B013",
                    "js",
                    "id int PRIMARY KEY, j json, b jsonb NOT NULL DEFAULT 'null',"
                            + " CHECK (j IS NULL OR json_typeof(j) <> 'boolean')",
                    """
                    VALUES
                      (1, NULL, 'null'),
                      (2, 'null', '"x"'),
                      (3, '{"a":1, "a":2,  "z":"\\u0000"}', '{"n":12345678901234567890.12345678901234567890}'),
                      (4, '"he said \\"hi\\" \\\\ \\n"', '[1E400, -0, 0.10]'),
                      (5, ' [ 1 ] ', '{"k":9007199254740993}')""",
                    "j, b"),
            ValueCase.special(
                    "B015",
                    "cx",
                    List.of(
                            "CREATE TYPE mood AS ENUM ('ok', 'not,ok', 'quo\"te', '')",
                            "CREATE DOMAIN pos AS int CHECK (VALUE > 0)",
                            "CREATE TYPE pt AS (x int, label text, sub mood)"),
                    "id int PRIMARY KEY, m mood[], p pos[], c pt, ca pt[]",
                    """
                    VALUES
                      (1, '{ok,"not,ok",NULL,"quo\\"te",""}', '{1,NULL}', ROW(NULL, '', 'ok'),
                       ARRAY[ROW(1, 'a "q" b', NULL)::pt, NULL, ROW(2, 'x,(y)', 'not,ok')::pt]),
                      (2, '{}', NULL, ROW(NULL, NULL, NULL), '{}'),
                      (3, NULL, '{}', NULL, NULL)""",
                    "m, p, c, ca"),
            new ValueCase(
                    "B016",
                    "asset",
                    false,
                    List.of(
                            "CREATE TYPE part AS ENUM ('up', 'low')",
                            "CREATE DOMAIN dpart AS part",
                            "CREATE TABLE asset_note (n text)"),
                    "o uuid, k part, d dpart, n int, PRIMARY KEY (o, k, d, n)",
                    """
                    SELECT md5(g::text)::uuid, (enum_range(NULL::part))[1 + g % 2], (enum_range(NULL::part))[1 + g % 2], g
                    FROM generate_series(1, 300) g""",
                    List.of(
                            "DELETE FROM @ WHERE n <= 150",
                            "UPDATE @ SET n = n + 1000 WHERE n <= 200",
                            "INSERT INTO asset_note VALUES ('@')")),
            ValueCase.builtIn(
                    "B017",
                    "rg",
                    "id int PRIMARY KEY, a int4range, t tstzrange, n numrange[], m int4multirange",
                    """
                    VALUES
                      (1, 'empty', '(,)', '{empty,"[,)","(1.50,2]"}', '{}'),
                      (2, '[1,10]', '["2024-01-01 00:00+00",)', '{}', '{[1,3),[5,)}'),
                      (3, NULL, '(-infinity,infinity]', NULL, NULL)""",
                    "a, t, n, m"),
            new ValueCase(
                    "B018",
                    "bt",
                    true,
                    List.of(),
                    "id varbit PRIMARY KEY, a bit, b bit(3), c bit(129), d varbit(1)",
                    """
                    VALUES
                      (B'', B'1', B'010', repeat('10', 64)::bit(129), B''),
                      (B'0', NULL, B'000', NULL, B'1'),
                      (B'00', B'0', B'111', NULL, NULL)""",
                    List.of(
                            "UPDATE @ SET b = B'101' WHERE id = B'0'",
                            "UPDATE @ SET id = B'000' WHERE id = B'00'",
                            "DELETE FROM @ WHERE id = B''")),
            ValueCase.special("B019", "ts", List.of(), "id int PRIMARY KEY, v tsvector, q tsquery", """
                    VALUES
                      (1, '''it''''s'':1A,3 ''a b'':2B ''back\\\\slash''', '''fat rat'' & !cat:*A'),
                      (2, '', NULL)""", "v, q"),
            new ValueCase(
                    "B020",
                    "xt",
                    false,
                    List.of(
                            "CREATE SCHEMA §",
                            "CREATE EXTENSION hstore SCHEMA §",
                            "CREATE EXTENSION citext SCHEMA §",
                            "CREATE EXTENSION ltree SCHEMA §"),
                    "id §.citext PRIMARY KEY, h §.hstore, l §.ltree[], ha §.hstore[]",
                    """
                    VALUES
                      ('Ab', '"a b"=>"\\"x\\"", k=>NULL', '{a.b,c}', ARRAY['x=>1'::§.hstore]),
                      ('cD', '', '{}', NULL)""",
                    List.of(
                            "UPDATE @ SET h = h OPERATOR(§.||) 'n=>2' WHERE id OPERATOR(§.=) 'ab'",
                            "DELETE FROM @ WHERE id OPERATOR(§.=) 'CD'")),
            ValueCase.builtIn(
                    "B021",
                    "mx",
                    "id int PRIMARY KEY, u uuid UNIQUE, i inet, c cidr, m macaddr8, o oid, x xid8, l pg_lsn, b char(5),"
                            + " k \"char\"",
                    """
                    VALUES
                      (1, '00000000-0000-0000-0000-000000000000', '10.0.0.1/8', '10.0.0.0/8', '08:00:2b:ff:fe:01:02:03',
                       4294967295, '18446744073709551615', 'FFFFFFFF/FFFFFFFF', 'ab', E'\\\\200'),
                      (2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '::1', '::/0', NULL,
                       2147483648, NULL, '0/0', '     ', '')""",
                    "i, c, m, o, x, l, b, k"),
            ValueCase.special(
                    "B021",
                    "rc",
                    List.of(),
                    "id int PRIMARY KEY, g regclass, t regtype[], p regprocedure",
                    "VALUES (1, 'pg_class', '{int4,text[]}', 'lower(text)'), (2, 'rc_copied', NULL, NULL)",
                    "g, t, p"));
}
