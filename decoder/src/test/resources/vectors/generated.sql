-- Stored generated columns, published since 18; virtual ones never are.
-- servers: 18-
-- decode text: proto_version=1
CREATE TABLE g (id integer PRIMARY KEY, twice integer GENERATED ALWAYS AS (id * 2) STORED, thrice integer GENERATED ALWAYS AS (id * 3) VIRTUAL);
CREATE PUBLICATION p FOR TABLE g WITH (publish_generated_columns = stored);
-- capture p
INSERT INTO g VALUES (1);
UPDATE g SET id = 2;
