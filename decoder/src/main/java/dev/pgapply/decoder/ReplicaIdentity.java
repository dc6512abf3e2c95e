package dev.pgapply.decoder;

/// Which columns of the old row the source logs for UPDATE and DELETE (`pg_class.relreplident`).
public enum ReplicaIdentity {
    /// The primary key, if there is one.
    DEFAULT,
    /// None: the source refuses UPDATE and DELETE of a table whose publication asks for them.
    NOTHING,
    /// The whole old row; every column of the relation then carries the key flag.
    FULL,
    /// A unique index chosen with `REPLICA IDENTITY USING INDEX`.
    INDEX
}
