package dev.pgapply.apply.engine;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import java.util.Optional;

/// Decides whether the slot that is there goes with the progress that is stored: the server itself moves an
/// older start position forward without a word, and so hides a gap. Pure.
final class SlotCheck {

    /// Who the source is.
    ///
    /// @param end where its log ends, asked after the progress was read; `0/0` if that says nothing
    record Source(String systemId, String database, Lsn end) {}

    /// What is to be done.
    sealed interface Decision {
        /// There is neither slot nor progress: make the slot.
        record Create() implements Decision {}

        /// There is a slot, but nothing was ever applied through it: begin where it stands.
        record Adopt(Lsn start) implements Decision {}

        /// Go on.
        record Resume(Lsn progress) implements Decision {}
    }

    private final Source source;
    private final String slotName;

    SlotCheck(Source source, String slotName) {
        this.source = source;
        this.slotName = slotName;
    }

    /// @param slot what the source has under the slot's name
    /// @param stored what the target has stored of the slot
    /// @param progress how far the target is; `0/0` if nothing was ever applied
    Decision decide(Optional<SlotFacts> slot, Optional<SubscriptionRecord> stored, Lsn progress) {
        slot.ifPresent(this::requireUsable);
        if (!progress.isValid()) {
            return begin(slot, stored);
        }
        if (stored.isEmpty()) {
            throw foreignProgress(progress);
        }
        requireSame(stored.get());
        requireNotBehind(progress);
        requireAt(slot, stored.get().confirmed().max(progress));
        return new Decision.Resume(progress);
    }

    /// Where a slot is stored, the first progress was stored soon after it, before anything was applied. A slot
    /// that has moved since shows that the progress is gone (a target restored without its replication
    /// origins), which is no reason to begin anew behind a gap.
    private Decision begin(Optional<SlotFacts> slot, Optional<SubscriptionRecord> stored) {
        stored.ifPresent(record -> requireAt(slot, record.confirmed()));
        return slot.<Decision>map(found -> new Decision.Adopt(confirmed(found))).orElseGet(Decision.Create::new);
    }

    private void requireAt(Optional<SlotFacts> slot, Lsn known) {
        if (slot.isEmpty()) {
            throw lost(
                    "slot " + slotName + " does not exist on the source, though the target has applied changes up to "
                            + known + ": what was committed since is lost");
        }
        Lsn confirmed = confirmed(slot.get());
        if (confirmed.isAfter(known)) {
            throw lost("slot " + slotName + " stands at " + confirmed + ", but the target has applied changes up to "
                    + known + " only: the slot was re-created or moved, or the target was restored from an older state;"
                    + " what was committed between the two is lost");
        }
    }

    private static Lsn confirmed(SlotFacts slot) {
        return slot.confirmedFlushLsn().orElse(Lsn.INVALID);
    }

    private void requireUsable(SlotFacts slot) {
        if (slot.isLost()) {
            throw lost("slot " + slotName + " can no longer be read, the source has removed log that it needs ("
                    + slot.invalidationReason().or(slot::walStatus).orElse("lost") + ")");
        }
        String plugin = slot.plugin().orElse("none (it is physical)");
        String database = slot.database().orElse("none");
        if (!plugin.equals("pgoutput") || !database.equals(source.database())) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "slot " + slotName + " belongs to plugin " + plugin + " in database " + database
                            + ", not to pgoutput in " + source.database(),
                    "Choose another --slot or --name; or, if nobody needs it, on the source: SELECT"
                            + " pg_drop_replication_slot('" + slotName + "');");
        }
    }

    private void requireSame(SubscriptionRecord stored) {
        if (!stored.sourceSystemId().equals(source.systemId())
                || !stored.sourceDatabase().equals(source.database())) {
            throw lost("the target's progress belongs to database " + stored.sourceDatabase() + " of the cluster "
                    + stored.sourceSystemId() + ", the source is database " + source.database() + " of the cluster "
                    + source.systemId());
        }
        if (!stored.slotName().equals(slotName)) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the target's progress belongs to slot " + stored.slotName() + ", not to " + slotName,
                    "Use --slot " + stored.slotName() + ", or another --name.");
        }
    }

    /// What a source has sent was on its disk before. A server that has less is an older state of it, or a
    /// standby that had not received everything when it took over.
    private void requireNotBehind(Lsn progress) {
        if (source.end().isValid() && progress.isAfter(source.end())) {
            throw lost("the target has applied changes up to " + progress + ", but the source's log ends at "
                    + source.end() + ": the source was restored from an older state, or failed over to a server that"
                    + " had not received everything; what was committed between the two is on the target only");
        }
    }

    /// Replication origins belong to the whole target cluster, what is stored of the slot to one database.
    private SetupException foreignProgress(Lsn progress) {
        return new SetupException(
                ErrorCode.SETUP,
                "the target's replication origin has progress (" + progress
                        + "), but this database knows nothing of the"
                        + " subscription: another database of the cluster uses the name, or the subscription's row in"
                        + " pgapply.subscription was deleted",
                "Choose another --name; or, if nothing else uses it, on the target: SELECT"
                        + " pg_replication_origin_drop('pgapply_…');");
    }

    private static SetupException lost(String message) {
        return new SetupException(
                ErrorCode.SLOT_LOST,
                message,
                "Copy anew: on the target, DELETE the subscription's rows in pgapply.table_state, pgapply.progress and"
                        + " pgapply.subscription, SELECT pg_replication_origin_drop('pgapply_…'), empty its tables; on the"
                        + " source, drop the slot; then start the run again.");
    }
}
