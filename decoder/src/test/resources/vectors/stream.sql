-- A transaction larger than logical_decoding_work_mem comes in blocks while it is open. Savepoints are rolled back
-- after their changes were sent, inner and outer, released and not; a message is sent under one that goes; tables
-- are truncated. The unpublished filler only takes memory at the source.
-- servers: 14-
-- decode whole: proto_version=1 messages=true
-- decode on: proto_version=2 streaming=on messages=true
-- decode binary: proto_version=2 streaming=on messages=true binary=true
-- decode on-4 (16-): proto_version=4 streaming=on messages=true
-- decode parallel (16-): proto_version=4 streaming=parallel messages=true
CREATE TYPE mood AS ENUM ('ok', 'bad');
CREATE TABLE t (id integer PRIMARY KEY, v text);
CREATE TABLE other (id integer PRIMARY KEY, m mood);
ALTER TABLE other REPLICA IDENTITY FULL;
CREATE TABLE filler (id integer);
CREATE PUBLICATION p FOR TABLE t, other;
-- capture p
BEGIN;
INSERT INTO t VALUES (1, 'top');
INSERT INTO other VALUES (1, 'ok'), (2, 'bad');
INSERT INTO filler SELECT generate_series(1, 800);
SAVEPOINT released;
INSERT INTO t VALUES (2, 'released savepoint');
INSERT INTO filler SELECT generate_series(1, 800);
RELEASE released;
SAVEPOINT rolled_back;
INSERT INTO t VALUES (3, 'rolled back');
UPDATE t SET v = 'rolled back' WHERE id = 1;
UPDATE other SET m = 'bad' WHERE id = 1;
SELECT pg_logical_emit_message(true, 'pfx', 'under a savepoint');
SAVEPOINT inner_rolled_back;
DELETE FROM t WHERE id = 2;
INSERT INTO filler SELECT generate_series(1, 800);
ROLLBACK TO inner_rolled_back;
INSERT INTO t VALUES (4, 'rolled back with the outer one');
SAVEPOINT inner_released;
INSERT INTO t VALUES (5, 'released, then rolled back with the outer one');
INSERT INTO filler SELECT generate_series(1, 800);
RELEASE inner_released;
ROLLBACK TO rolled_back;
INSERT INTO t VALUES (6, 'after the rollback');
INSERT INTO filler SELECT generate_series(1, 800);
DELETE FROM other WHERE id = 1;
TRUNCATE t, other;
INSERT INTO t VALUES (7, 'after the truncate');
COMMIT;
INSERT INTO t VALUES (8, 'ordinary');
