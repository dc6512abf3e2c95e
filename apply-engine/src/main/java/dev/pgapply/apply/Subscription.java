package dev.pgapply.apply;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// One job: what is copied and followed, from where to where, and how. Immutable; parsing lives in the command
/// line.
///
/// @param name the subscription's name; origin, slot and lock are called `pgapply_<name>`
/// @param publications the publications to follow; when empty, `pgapply_<name>` is used, and created for all
/// tables if missing
/// @param slot the slot's name where it is not `pgapply_<name>`
/// @param failover ask for a failover slot (source 17 or newer)
/// @param slotWait how long a slot that is active for somebody else is waited for
/// @param until stop when this is applied and durable; empty runs for ever
/// @param twoPhase prepare on the target what the source prepares (source 15 or newer); otherwise a prepared
///     transaction is applied when it is committed
/// @param heartbeat how often something is written into the source's log, so that the slot moves though
///     nothing else happens; empty for never
/// @param retryFor how long lost connections are retried; empty retries for ever
public record Subscription(
        String name,
        PostgresEndpoint source,
        PostgresEndpoint target,
        List<String> publications,
        Optional<String> slot,
        boolean failover,
        Duration slotWait,
        Copy copy,
        Optional<Until> until,
        Binary binary,
        Origin origin,
        Streaming streaming,
        boolean twoPhase,
        Optional<Duration> heartbeat,
        Writer writer,
        boolean allowTriggers,
        Duration refreshInterval,
        Optional<Duration> retryFor) {

    public Subscription {
        if (name.isEmpty() || !name.matches("[a-z0-9_]{1,50}")) {
            throw new IllegalArgumentException(
                    "a subscription's name has 1 to 50 lower-case letters, digits and underscores: " + name);
        }
        publications = List.copyOf(publications);
    }

    /// Name of the replication origin and of the advisory lock, and of slot and publication where none is
    /// given.
    public String objectName() {
        return "pgapply_" + name;
    }

    public String slotName() {
        return slot.orElse(objectName());
    }

    /// What `application_name` shows on every connection.
    public String applicationName() {
        return "pgapply/" + name;
    }

    /// The first copy of the tables.
    ///
    /// @param data copy the rows at all; without it only changes after the slot's position are applied
    /// @param tableJobs how many tables are copied at once
    public record Copy(boolean data, TargetRows targetRows, int tableJobs) {}

    /// What to do with a target table that has rows before its first copy.
    public enum TargetRows {
        /// Stop and say which tables have rows.
        REFUSE,
        /// Empty it in the transaction that copies.
        TRUNCATE,
        /// Leave them and add the source's.
        KEEP
    }

    /// Where a run ends by itself.
    public sealed interface Until {
        /// The source's flush position at the moment of the first connection (replay position on a standby).
        record Now() implements Until {}

        /// Everything that was committed up to this position.
        record Position(Lsn lsn) implements Until {}
    }

    /// The format of values in copy and stream.
    public enum Binary {
        /// Binary where both sides' types are provably the same, text otherwise.
        AUTO,
        ON,
        OFF
    }

    /// Which of the source's transactions are wanted, by the replication origin they carry (source 16 or
    /// newer).
    public enum Origin {
        ANY,
        NONE
    }

    /// What is done with large transactions that are still open at the source.
    ///
    /// @param mode empty: the most that the source can do
    /// @param parallelStreams how many open transactions are written at once
    /// @param spoolDirectory where what is received of them waits for their commit
    /// @param spoolMemoryBytes how much of it is held in memory, of all of them together
    /// @param spoolLimitBytes how much of it the files may hold
    public record Streaming(
            Optional<Mode> mode,
            int parallelStreams,
            Path spoolDirectory,
            long spoolMemoryBytes,
            long spoolLimitBytes,
            SpoolFull spoolFull) {

        /// When the source sends a large transaction.
        public enum Mode {
            /// After its commit: the source keeps it.
            OFF,
            /// While it is open, to be kept until its commit (source 14 or newer).
            ON,
            /// While it is open, and so it is written to the target as well, on a connection of its own (source 16
            /// or newer).
            PARALLEL
        }

        /// What to do with a transaction for which the limit leaves no room.
        public enum SpoolFull {
            /// Stop and name it.
            STOP,
            /// Have the source keep open transactions from now on.
            WAIT
        }

        public static final Streaming DEFAULT = new Streaming(
                Optional.empty(),
                2,
                Path.of(System.getProperty("java.io.tmpdir"), "pgapply-spool"),
                64L << 20,
                Long.MAX_VALUE,
                SpoolFull.STOP);
    }

    /// How changes are written.
    ///
    /// @param grouping several source transactions may share one target transaction
    /// @param groupRows most changes of one group
    /// @param groupBytes most bytes of one group
    /// @param groupAge longest time a group stays open
    /// @param synchronousCommit the target's commits wait for its disk
    public record Writer(
            boolean grouping, int groupRows, long groupBytes, Duration groupAge, boolean synchronousCommit) {

        public static final Writer DEFAULT = new Writer(true, 20_000, 8L << 20, Duration.ofSeconds(1), false);
    }
}
