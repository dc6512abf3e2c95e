-- A prepared transaction larger than logical_decoding_work_mem: blocks, then stream prepare; then its decision. Within
-- it a savepoint is rolled back.
-- servers: 15-
-- slot: two_phase
-- decode whole: proto_version=3 two_phase=on
-- decode on: proto_version=3 two_phase=on streaming=on
-- decode parallel (16-): proto_version=4 two_phase=on streaming=parallel
CREATE TABLE t (id integer PRIMARY KEY, v text);
CREATE TABLE filler (id integer);
CREATE PUBLICATION p FOR TABLE t;
-- capture p
BEGIN;
INSERT INTO t VALUES (1, 'committed');
INSERT INTO filler SELECT generate_series(1, 800);
SAVEPOINT s;
INSERT INTO t VALUES (2, 'rolled back');
INSERT INTO filler SELECT generate_series(1, 800);
ROLLBACK TO s;
INSERT INTO t VALUES (3, 'committed');
PREPARE TRANSACTION 'streamed';
INSERT INTO t VALUES (4, 'between');
COMMIT PREPARED 'streamed';
BEGIN;
INSERT INTO t VALUES (5, 'decided later');
INSERT INTO filler SELECT generate_series(1, 800);
PREPARE TRANSACTION 'left open';
-- cleanup
COMMIT PREPARED 'left open';
