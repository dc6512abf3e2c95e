CREATE TABLE subscription (
    name text PRIMARY KEY,
    source_system_id text,
    source_database text,
    slot_name text,
    plugin text,
    confirmed_lsn pg_lsn,
    instance_host text,
    instance_pid bigint,
    instance_started timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN subscription.confirmed_lsn IS
    'confirmed to the source although no rows came with it; the slot is never further than the later of this and the progress';
COMMENT ON COLUMN subscription.instance_started IS 'start of the process that holds the lock: tells it from a later one with its number';

CREATE TABLE progress (
    subscription text PRIMARY KEY,
    lsn pg_lsn NOT NULL,
    commit_time timestamptz NOT NULL
);
COMMENT ON TABLE progress IS 'used only where the role may not use replication origins';

CREATE TABLE table_state (
    subscription text NOT NULL,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    state text NOT NULL CHECK (state IN ('INIT', 'COPYING', 'COPIED', 'CATCHUP', 'READY', 'STOPPED')),
    copy_lsn pg_lsn,
    rows_copied bigint,
    reason text,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (subscription, schema_name, table_name)
);
COMMENT ON COLUMN table_state.copy_lsn IS 'transactions whose commit begins before it are in the copy';
