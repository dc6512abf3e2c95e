-- A transaction that was itself replicated: its commit time is the origin's.
-- servers: 10-
-- decode text: proto_version=1
CREATE TABLE t (id integer PRIMARY KEY);
CREATE PUBLICATION p FOR TABLE t;
SELECT pg_replication_origin_create('vectors: upstream 1');
-- capture p
INSERT INTO t VALUES (1);
SELECT pg_replication_origin_session_setup('vectors: upstream 1');
BEGIN;
INSERT INTO t VALUES (2);
SELECT pg_replication_origin_xact_setup('0/AABBCC', '2026-01-01 00:00:00+00');
COMMIT;
SELECT pg_replication_origin_session_reset();
INSERT INTO t VALUES (3);
-- cleanup
SELECT pg_replication_origin_drop('vectors: upstream 1');
