package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;

/// What a source server says of itself at one moment.
///
/// @param systemIdentifier unsigned decimal, as `IDENTIFY_SYSTEM` prints it; the same for a server and its
///     standbys
/// @param timeline that of the last checkpoint; right after a promotion `IDENTIFY_SYSTEM` knows better
/// @param walLevel the level in effect
/// @param inRecovery it is a standby
/// @param insertPosition where the log ends; on a standby what is replayed
/// @param flushPosition what is on the source's disk and so can be decoded; on a standby what is replayed
/// @param usedReplicationSlots logical and physical ones, active or not
/// @param mayReplicate the role has REPLICATION or is a superuser; providers have further ways to grant it
public record SourceFacts(
        int serverVersion,
        String systemIdentifier,
        int timeline,
        String database,
        String databaseEncoding,
        String role,
        String walLevel,
        boolean inRecovery,
        Lsn insertPosition,
        Lsn flushPosition,
        int maxReplicationSlots,
        int usedReplicationSlots,
        int maxWalSenders,
        int usedWalSenders,
        boolean mayReplicate) {

    public boolean decodesLogically() {
        return walLevel.equals("logical");
    }
}
