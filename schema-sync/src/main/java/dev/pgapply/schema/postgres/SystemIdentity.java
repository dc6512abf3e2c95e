package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;

/// The answer to `IDENTIFY_SYSTEM`.
///
/// @param systemIdentifier unsigned decimal
/// @param timeline the current one
/// @param flushPosition what is on disk now; on a standby what is replayed
/// @param database the database of the replication connection
public record SystemIdentity(String systemIdentifier, int timeline, Lsn flushPosition, String database) {}
