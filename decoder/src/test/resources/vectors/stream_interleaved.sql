-- Blocks of two open transactions alternate, an ordinary transaction commits between them, one of the two was itself
-- replicated; they commit in the other order than they began.
-- servers: 14-
-- decode whole: proto_version=1
-- decode on: proto_version=2 streaming=on
-- decode parallel (16-): proto_version=4 streaming=parallel
CREATE TABLE t (id integer PRIMARY KEY, v text);
CREATE TABLE filler (id integer);
CREATE PUBLICATION p FOR TABLE t;
SELECT pg_replication_origin_create('vectors: upstream 2');
-- capture p
-- session a
BEGIN;
INSERT INTO t VALUES (1, 'a');
INSERT INTO filler SELECT generate_series(1, 800);
-- session b
SELECT pg_replication_origin_session_setup('vectors: upstream 2');
BEGIN;
INSERT INTO t VALUES (2, 'b');
INSERT INTO filler SELECT generate_series(1, 800);
-- session c
INSERT INTO t VALUES (3, 'c');
-- session a
INSERT INTO t VALUES (4, 'a');
INSERT INTO filler SELECT generate_series(1, 800);
-- session b
INSERT INTO t VALUES (5, 'b');
INSERT INTO filler SELECT generate_series(1, 800);
SELECT pg_replication_origin_xact_setup('0/AABBCC', '2026-01-01 00:00:00+00');
COMMIT;
SELECT pg_replication_origin_session_reset();
-- session a
INSERT INTO t VALUES (6, 'a');
COMMIT;
-- cleanup
SELECT pg_replication_origin_drop('vectors: upstream 2');
