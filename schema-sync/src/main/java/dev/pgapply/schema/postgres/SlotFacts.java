package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import java.util.Optional;
import java.util.OptionalInt;

/// A row of `pg_replication_slots`.
///
/// @param plugin absent for a physical slot
/// @param database absent for a physical slot
/// @param activePid the process that streams from it now
/// @param activeApplication that process's `application_name`, where it can be seen
/// @param restartLsn from where on the source keeps its log
/// @param confirmedFlushLsn absent while the slot is being created, and for a physical slot
/// @param walStatus `reserved`, `extended`, `unreserved` or `lost` (13 and newer)
/// @param invalidationReason why it can never be used again (16: `conflicting`; 17 and newer: the server's
///     word)
/// @param twoPhase it delivers transactions at PREPARE (14 and newer)
/// @param failover it is kept on standbys (17 and newer)
public record SlotFacts(
        String name,
        Optional<String> plugin,
        Optional<String> database,
        boolean temporary,
        OptionalInt activePid,
        Optional<String> activeApplication,
        Optional<Lsn> restartLsn,
        Optional<Lsn> confirmedFlushLsn,
        Optional<String> walStatus,
        Optional<String> invalidationReason,
        boolean twoPhase,
        boolean failover) {

    /// Whether it sends what this program reads; a physical slot and those of other plugins do not.
    public boolean isPgoutput() {
        return plugin.filter("pgoutput"::equals).isPresent();
    }

    /// Whether the server has thrown away what the slot needs.
    public boolean isLost() {
        return invalidationReason.isPresent()
                || walStatus.filter("lost"::equals).isPresent();
    }
}
