-- A streamed transaction that is rolled back whole. Up to 17 blocks are sent before the end of it is met; 18 looks
-- first, and sends nothing.
-- servers: 14-
-- decode whole: proto_version=1
-- decode on: proto_version=2 streaming=on
-- decode parallel (16-): proto_version=4 streaming=parallel
CREATE TABLE t (id integer PRIMARY KEY);
CREATE TABLE filler (id integer);
CREATE PUBLICATION p FOR TABLE t;
-- capture p
INSERT INTO t VALUES (1);
BEGIN;
INSERT INTO t VALUES (2);
INSERT INTO filler SELECT generate_series(1, 1600);
ROLLBACK;
BEGIN;
INSERT INTO t VALUES (3);
SAVEPOINT s;
INSERT INTO t VALUES (4);
INSERT INTO filler SELECT generate_series(1, 1600);
ROLLBACK TO s;
INSERT INTO filler SELECT generate_series(1, 1600);
ROLLBACK;
INSERT INTO t VALUES (5);
