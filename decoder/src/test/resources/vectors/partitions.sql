-- Partitions published as their root: the description of the leaf comes too, and no row refers to it. A row that moves
-- to another partition is deleted and inserted.
-- servers: 13-
-- decode root: proto_version=1
CREATE TABLE root (id integer, v integer, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF root FOR VALUES FROM (0) TO (10);
CREATE TABLE high (v integer, id integer NOT NULL);
ALTER TABLE root ATTACH PARTITION high FOR VALUES FROM (10) TO (20);
CREATE PUBLICATION p FOR TABLE root WITH (publish_via_partition_root = true);
-- capture p
INSERT INTO root VALUES (1, 1), (11, 11);
UPDATE root SET v = 2 WHERE id = 1;
UPDATE root SET id = 12 WHERE id = 1;
DELETE FROM root WHERE id = 11;
TRUNCATE root;
