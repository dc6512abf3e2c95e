-- A table is altered between two rows: the relation is described again before the second.
-- servers: 10-
-- decode text: proto_version=1
CREATE TABLE t (id integer PRIMARY KEY, a integer);
CREATE PUBLICATION p FOR TABLE t;
-- capture p
INSERT INTO t VALUES (1, 1);
ALTER TABLE t ADD COLUMN b text DEFAULT 'new';
BEGIN;
INSERT INTO t VALUES (2, 2, 'b');
ALTER TABLE t RENAME COLUMN a TO c;
ALTER TABLE t RENAME TO renamed;
UPDATE renamed SET c = 3 WHERE id = 2;
COMMIT;
