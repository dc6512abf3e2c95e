-- Each source transaction that a subscription prepares here inserts a row, which can be seen once that is committed, and is
-- removed with the progress that says so.
CREATE TABLE pgapply.prepared (
    subscription text NOT NULL,
    -- As in pg_prepared_xacts.
    gid          text NOT NULL,
    PRIMARY KEY (subscription, gid)
);
