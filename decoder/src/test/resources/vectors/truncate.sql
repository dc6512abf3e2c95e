-- TRUNCATE of one and of several tables with each flag; a table that only CASCADE reached is named too.
-- servers: 11-
-- decode text: proto_version=1
CREATE TABLE a (id serial PRIMARY KEY);
CREATE TABLE b (id integer PRIMARY KEY, a_id integer REFERENCES a);
CREATE TABLE c (id serial PRIMARY KEY);
CREATE PUBLICATION p FOR TABLE a, b, c;
-- capture p
TRUNCATE c;
TRUNCATE a, b;
TRUNCATE c RESTART IDENTITY;
TRUNCATE a CASCADE;
TRUNCATE a, c RESTART IDENTITY CASCADE;
