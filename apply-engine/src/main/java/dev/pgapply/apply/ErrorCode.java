package dev.pgapply.apply;

/// Stable codes of everything that can stop a run: scripts and log searches may depend on them.
public enum ErrorCode {
    /// `wal_level`, a privilege, a publication, no free slot, a slot of another database or plugin, row-level
    /// security.
    SETUP,
    /// The source cannot be reached, or the connection to it was lost.
    SOURCE_LOST,
    /// The source refuses the login, or the database does not exist.
    SOURCE_REFUSED,
    /// The slot is active for another process.
    SLOT_ACTIVE,
    /// The target cannot be reached, or the connection to it was lost.
    TARGET_LOST,
    /// The target refuses the login, or the database does not exist.
    TARGET_REFUSED,
    /// The target cannot store anything now: disk full or read-only.
    TARGET_FULL,
    /// Tables or columns are missing on the target, or are of a kind that cannot be written.
    SCHEMA_MISMATCH,
    /// A unique violation and its kin: a row of the target is in the way.
    CONFLICT,
    /// The target cannot hold a value or refuses a row.
    CHANGE_REJECTED,
    /// A transaction that is still open at the source has no room in the spool.
    SPOOL_FULL,
    /// The slot is gone, was invalidated, re-created or moved by somebody else.
    SLOT_LOST,
    /// Another live instance runs this subscription.
    INSTANCE_RUNNING,
    /// The source sent something that the protocol does not allow.
    PROTOCOL_VIOLATION
}
