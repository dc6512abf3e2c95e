-- Rows: insert, update and delete under each replica identity, nulls, user-defined types, an out-of-line value that
-- did not change, a key stored out of line, names that need more than ASCII.
-- servers: 10-
-- decode text: proto_version=1
-- decode binary (14-): proto_version=1 binary=true
CREATE TYPE mood AS ENUM ('ok', 'bad');
CREATE DOMAIN posint AS integer CHECK (VALUE > 0);
CREATE TABLE typed (id integer PRIMARY KEY, t varchar(20), m mood, p posint, ms mood[], n numeric(10, 2), at timestamptz);
CREATE TABLE whole (a integer, b text);
ALTER TABLE whole REPLICA IDENTITY FULL;
CREATE TABLE out_of_line (id integer PRIMARY KEY, big text, n integer);
ALTER TABLE out_of_line ALTER big SET STORAGE EXTERNAL;
CREATE TABLE out_of_line_whole (id integer, big text, n integer);
ALTER TABLE out_of_line_whole ALTER big SET STORAGE EXTERNAL;
ALTER TABLE out_of_line_whole REPLICA IDENTITY FULL;
CREATE TABLE wide_key (k text PRIMARY KEY, v integer);
ALTER TABLE wide_key ALTER k SET STORAGE EXTERNAL;
CREATE TABLE by_index (a integer NOT NULL, b integer NOT NULL, c integer);
CREATE UNIQUE INDEX by_index_b ON by_index (b);
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_b;
CREATE TABLE no_identity (a integer, "select" bytea);
ALTER TABLE no_identity REPLICA IDENTITY NOTHING;
CREATE SCHEMA "Ünïcode ""schema""";
CREATE TABLE "Ünïcode ""schema"""."表 1" ("ключ" text PRIMARY KEY, "dropped" integer, "🐘" text);
ALTER TABLE "Ünïcode ""schema"""."表 1" DROP COLUMN "dropped";
CREATE PUBLICATION p FOR TABLE typed, whole, out_of_line, out_of_line_whole, wide_key, by_index, "Ünïcode ""schema"""."表 1";
CREATE TABLE no_columns ();
CREATE PUBLICATION p_insert FOR TABLE no_identity, no_columns WITH (publish = 'insert');
-- capture p, p_insert
INSERT INTO typed VALUES (1, 'ab', NULL, 7, '{ok,bad}', 1.50, '2026-01-02 03:04:05.678901+00');
UPDATE typed SET t = 'cd' WHERE id = 1;
UPDATE typed SET id = 2, m = 'bad' WHERE id = 1;
DELETE FROM typed;
INSERT INTO whole VALUES (1, NULL), (1, '');
UPDATE whole SET b = 'x' WHERE b IS NULL;
DELETE FROM whole;
INSERT INTO out_of_line VALUES (1, repeat('v', 2100), 1);
UPDATE out_of_line SET n = 2;
UPDATE out_of_line SET id = 3;
INSERT INTO out_of_line_whole VALUES (1, repeat('w', 2100), 1);
UPDATE out_of_line_whole SET n = 2;
INSERT INTO wide_key VALUES (repeat('k', 2100), 1);
UPDATE wide_key SET v = 2;
BEGIN;
INSERT INTO by_index VALUES (1, 10, 100), (2, 20, NULL);
UPDATE by_index SET c = 101 WHERE a = 1;
UPDATE by_index SET b = 21 WHERE a = 2;
DELETE FROM by_index WHERE a = 1;
COMMIT;
INSERT INTO no_identity VALUES (1, '\x00ff');
INSERT INTO no_columns DEFAULT VALUES;
INSERT INTO "Ünïcode ""schema"""."表 1" VALUES ('žluťoučký 🐎', e'tab\tand\nline');
