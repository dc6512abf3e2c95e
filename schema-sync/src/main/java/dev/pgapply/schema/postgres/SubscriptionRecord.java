package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import java.time.Instant;
import java.util.Optional;

/// A row of `pgapply.subscription`.
///
/// @param sourceSystemIdentifier unsigned decimal, as `IDENTIFY_SYSTEM` prints it
/// @param confirmed the furthest position that the source was ever told to be safe on this target
/// @param instance the instance that ran last
public record SubscriptionRecord(
        String name,
        String sourceSystemIdentifier,
        String sourceDatabase,
        String slotName,
        String plugin,
        ProgressKind progressKind,
        Lsn confirmed,
        Optional<Instance> instance) {

    /// Where progress is kept.
    public enum ProgressKind {
        /// In a replication origin of the target.
        ORIGIN,
        /// In `pgapply.progress`.
        ROW
    }

    /// A process.
    public record Instance(String host, long pid, Instant started) {}
}
