-- Transactions that change nothing of the publication: begin and commit alone before 15, nothing from 15 on.
-- servers: 10-
-- decode text: proto_version=1
CREATE TABLE seen (id integer PRIMARY KEY);
CREATE TABLE unseen (id integer PRIMARY KEY);
CREATE PUBLICATION p FOR TABLE seen;
-- capture p
INSERT INTO unseen VALUES (1);
INSERT INTO seen VALUES (1);
INSERT INTO unseen VALUES (2);
