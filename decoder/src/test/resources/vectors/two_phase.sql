-- Prepared transactions: committed, rolled back, left open; an empty gid and the longest one; one without any
-- published change; one with a savepoint rolled back; one that was itself replicated.
-- servers: 15-
-- slot: two_phase
-- decode text: proto_version=3 two_phase=on
CREATE TABLE t (id integer PRIMARY KEY, v text);
CREATE TABLE unseen (id integer PRIMARY KEY);
CREATE PUBLICATION p FOR TABLE t;
SELECT pg_replication_origin_create('vectors: upstream 3');
-- capture p
BEGIN;
INSERT INTO t VALUES (1, 'committed');
SAVEPOINT s;
INSERT INTO t VALUES (2, 'rolled back to a savepoint');
ROLLBACK TO s;
PREPARE TRANSACTION 'committed';
INSERT INTO t VALUES (3, 'between');
COMMIT PREPARED 'committed';
BEGIN;
UPDATE t SET v = 'empty gid' WHERE id = 1;
PREPARE TRANSACTION '';
COMMIT PREPARED '';
BEGIN;
DELETE FROM t WHERE id = 1;
PREPARE TRANSACTION 'rolled back';
ROLLBACK PREPARED 'rolled back';
BEGIN;
INSERT INTO unseen VALUES (1);
PREPARE TRANSACTION 'nothing published';
COMMIT PREPARED 'nothing published';
BEGIN;
INSERT INTO t VALUES (4, 'the longest gid');
PREPARE TRANSACTION 'gid of 199 bytes: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890';
COMMIT PREPARED 'gid of 199 bytes: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890';
SELECT pg_replication_origin_session_setup('vectors: upstream 3');
BEGIN;
INSERT INTO t VALUES (5, 'replicated');
SELECT pg_replication_origin_xact_setup('0/AABBCC', '2026-01-01 00:00:00+00');
PREPARE TRANSACTION 'replicated ß';
SELECT pg_replication_origin_session_reset();
COMMIT PREPARED 'replicated ß';
BEGIN;
INSERT INTO t VALUES (6, 'left open');
PREPARE TRANSACTION 'left open';
-- cleanup
ROLLBACK PREPARED 'left open';
SELECT pg_replication_origin_drop('vectors: upstream 3');
