-- pg_logical_emit_message: a transactional message stands in its transaction, the others come at once, even of a
-- transaction that rolls back.
-- servers: 14-
-- decode messages: proto_version=1 messages=true
CREATE TABLE t (id integer PRIMARY KEY);
CREATE PUBLICATION p FOR TABLE t;
-- capture p
SELECT pg_logical_emit_message(false, 'präfix', 'at once');
BEGIN;
INSERT INTO t VALUES (1);
SELECT pg_logical_emit_message(true, 'pfx', 'in its place');
SELECT pg_logical_emit_message(false, 'pfx', '');
SELECT pg_logical_emit_message(true, '', '\x00ff00'::bytea);
INSERT INTO t VALUES (2);
COMMIT;
BEGIN;
SELECT pg_logical_emit_message(true, 'pfx', 'never sent');
SELECT pg_logical_emit_message(false, 'pfx', 'sent all the same');
ROLLBACK;
SELECT pg_logical_emit_message(true, 'pfx', 'alone');
