-- A row filter turns updates into inserts and deletes; a column list leaves columns out of the description.
-- servers: 15-
-- decode text: proto_version=1
CREATE TABLE filtered (id integer PRIMARY KEY, big text, v integer);
ALTER TABLE filtered ALTER big SET STORAGE EXTERNAL;
ALTER TABLE filtered REPLICA IDENTITY FULL;
CREATE TABLE listed (id integer PRIMARY KEY, secret text, v integer);
CREATE PUBLICATION p FOR TABLE filtered WHERE (v > 0), listed (id, v);
-- capture p
INSERT INTO filtered VALUES (1, repeat('x', 2100), 0), (2, 'b', 1);
UPDATE filtered SET v = 1 WHERE id = 1;
UPDATE filtered SET v = 0 WHERE id = 2;
DELETE FROM filtered;
INSERT INTO listed VALUES (1, 'not sent', 2);
UPDATE listed SET v = 3;
