-- One row for each subscription that writes to this database.
CREATE TABLE pgapply.subscription (
    name             text PRIMARY KEY,
    -- What progress belongs to: it means nothing for another source or slot. Empty until the slot is known.
    source_system_id text,
    source_database  text,
    slot_name        text,
    plugin           text,
    -- Confirmed to the source although no rows came with it: the slot is never further than the later of this and the
    -- progress.
    confirmed_lsn    pg_lsn,
    -- The process that holds the instance lock, or held it last; its start tells it from a later one of its number.
    instance_host    text,
    instance_pid     bigint,
    instance_started timestamp with time zone,
    created_at       timestamp with time zone NOT NULL DEFAULT now()
);

-- How far the source's transactions are applied: the highest position of each subscription. Each commit of applied rows
-- adds a row in the same transaction; older ones are removed now and then.
CREATE TABLE pgapply.progress (
    subscription text NOT NULL,
    lsn          pg_lsn NOT NULL,
    commit_time  timestamp with time zone,
    PRIMARY KEY (subscription, lsn)
);

-- How far each table is.
CREATE TABLE pgapply.table_state (
    subscription text NOT NULL,
    schema_name  text NOT NULL,
    table_name   text NOT NULL,
    state        text NOT NULL CHECK (state IN ('INIT', 'COPYING', 'COPIED', 'CATCHUP', 'READY', 'STOPPED')),
    -- The position of the snapshot that was copied: earlier changes of the table are in the copy.
    copy_lsn     pg_lsn,
    rows_copied  bigint NOT NULL DEFAULT 0,
    changed_at   timestamp with time zone NOT NULL DEFAULT now(),
    -- Why a table is stopped.
    reason       text,
    PRIMARY KEY (subscription, schema_name, table_name)
);
