package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One live instance per subscription: an advisory lock held by the session that applies. One object per
/// engine: a remnant of its own earlier session is told from another engine in the same process by having been
/// here before.
///
/// A killed instance's server process may still hold it, waiting for a row lock, and would commit later. It is
/// told from a live instance by the operating-system process that the lock's holder wrote down: on the same
/// host, and gone. Such a remnant is waited for, then terminated.
final class InstanceLock {

    private static final Logger LOG = LoggerFactory.getLogger(InstanceLock.class);
    private static final int CLASS = 0x70676170; // "pgap"
    private static final int EARLY_CLASS = 0x70676165; // "pgae"
    private static final Duration REMNANT_PATIENCE = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final String subscription;
    private final int key;
    private boolean acquiredBefore;

    InstanceLock(String subscription) {
        this.subscription = subscription;
        CRC32C hash = new CRC32C();
        hash.update(subscription.getBytes(StandardCharsets.UTF_8));
        this.key = (int) hash.getValue();
    }

    /// Takes the lock for the session and writes down who has it.
    ///
    /// @throws SetupException with [ErrorCode#INSTANCE_RUNNING] if a live instance has it
    void acquire(Connection session) throws SQLException, InterruptedException {
        long start = System.nanoTime();
        boolean terminated = false;
        while (!tryLock(session)) {
            OptionalInt holder = holder(session, CLASS);
            Holder owner = owner(session);
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            if ((owner.runs() && !(owner.isSelf() && acquiredBefore)) || waited.compareTo(PATIENCE) > 0) {
                throw new SetupException(
                        ErrorCode.INSTANCE_RUNNING,
                        "another instance runs subscription " + subscription + ": " + owner + ", server process "
                                + (holder.isPresent() ? holder.getAsInt() : "unknown") + " on the target",
                        "Stop it, or give this job another --name.");
            }
            boolean remnant = owner.isHere() && (!owner.runs() || (owner.isSelf() && acquiredBefore));
            if (remnant && !terminated && holder.isPresent() && waited.compareTo(REMNANT_PATIENCE) > 0) {
                LOG.warn("terminating server process {} that a killed instance left behind", holder.getAsInt());
                terminate(session, holder.getAsInt());
                terminated = true;
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
        endEarlySessions(session);
        writeDown(session);
        acquiredBefore = true;
    }

    /// Another session of the instance that has the lock, which will commit for the subscription too. It keeps the
    /// next holder of the lock waiting.
    ///
    /// @param instance the server process that has acquired the lock
    /// @return whether it has it still; otherwise this session must not write anything
    boolean join(Connection session, int instance) throws SQLException {
        // In this order: whoever gets the lock after the look waits for this session.
        return ask(session, "SELECT pg_catalog.pg_try_advisory_lock_shared(?, ?)", EARLY_CLASS)
                && holder(session, CLASS).equals(OptionalInt.of(instance));
    }

    /// Those that an earlier holder has left: what they still have in hand could be committed behind our back.
    private void endEarlySessions(Connection session) throws SQLException, InterruptedException {
        long start = System.nanoTime();
        while (!ask(session, "SELECT pg_catalog.pg_try_advisory_lock(?, ?)", EARLY_CLASS)) {
            OptionalInt remnant = holder(session, EARLY_CLASS);
            if (remnant.isPresent() && System.nanoTime() - start > REMNANT_PATIENCE.toNanos()) {
                LOG.warn("terminating server process {} that a former instance left behind", remnant.getAsInt());
                terminate(session, remnant.getAsInt());
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
        ask(session, "SELECT pg_catalog.pg_advisory_unlock(?, ?)", EARLY_CLASS);
    }

    private boolean tryLock(Connection session) throws SQLException {
        return ask(session, "SELECT pg_catalog.pg_try_advisory_lock(?, ?)", CLASS);
    }

    private boolean ask(Connection session, String sql, int lockClass) throws SQLException {
        try (PreparedStatement lock = session.prepareStatement(sql)) {
            lock.setInt(1, lockClass);
            lock.setInt(2, key);
            try (ResultSet answer = lock.executeQuery()) {
                return answer.next() && answer.getBoolean(1);
            }
        }
    }

    private OptionalInt holder(Connection session, int lockClass) throws SQLException {
        try (PreparedStatement query = session.prepareStatement(
                "SELECT pid FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2"
                        + " AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())"
                        + " AND classid::bigint = ? AND objid::bigint = ?")) {
            query.setLong(1, Integer.toUnsignedLong(lockClass));
            query.setLong(2, Integer.toUnsignedLong(key));
            try (ResultSet answer = query.executeQuery()) {
                return answer.next() ? OptionalInt.of(answer.getInt(1)) : OptionalInt.empty();
            }
        }
    }

    private static void terminate(Connection session, int pid) throws SQLException {
        try (PreparedStatement statement = session.prepareStatement("SELECT pg_catalog.pg_terminate_backend(?)")) {
            statement.setInt(1, pid);
            statement.execute();
        }
    }

    private Holder owner(Connection session) throws SQLException {
        try (PreparedStatement query = session.prepareStatement(
                "SELECT instance_host, instance_pid, instance_started FROM pgapply.subscription WHERE name = ?")) {
            query.setString(1, subscription);
            try (ResultSet answer = query.executeQuery()) {
                if (!answer.next() || answer.getString(1) == null) {
                    return new Holder("unknown", 0, Instant.EPOCH);
                }
                return new Holder(
                        answer.getString(1),
                        answer.getLong(2),
                        answer.getTimestamp(3).toInstant());
            }
        }
    }

    private void writeDown(Connection session) throws SQLException {
        Holder self = Holder.self();
        try (PreparedStatement upsert = session.prepareStatement(
                "INSERT INTO pgapply.subscription AS s (name, instance_host, instance_pid, instance_started)"
                        + " VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET instance_host = excluded.instance_host,"
                        + " instance_pid = excluded.instance_pid, instance_started = excluded.instance_started")) {
            upsert.setString(1, subscription);
            upsert.setString(2, self.host());
            upsert.setLong(3, self.pid());
            upsert.setTimestamp(4, java.sql.Timestamp.from(self.started()));
            upsert.executeUpdate();
        }
    }

    /// The operating-system process that has the lock. Its start tells it from a later process of the same
    /// number.
    private record Holder(String host, long pid, Instant started) {

        static Holder self() {
            ProcessHandle self = ProcessHandle.current();
            return new Holder(hostName(), self.pid(), startOf(self));
        }

        boolean isSelf() {
            return isHere() && pid == ProcessHandle.current().pid();
        }

        boolean isHere() {
            return host.equals(hostName());
        }

        /// Whether the process runs on this host now; of another host nothing is known.
        boolean runs() {
            return isHere()
                    && ProcessHandle.of(pid)
                            .filter(process -> Duration.between(started, startOf(process))
                                            .abs()
                                            .compareTo(Duration.ofSeconds(2))
                                    < 0)
                            .isPresent();
        }

        private static Instant startOf(ProcessHandle process) {
            return process.info().startInstant().orElse(Instant.EPOCH);
        }

        private static String hostName() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "localhost";
            }
        }

        @Override
        public String toString() {
            return "process " + pid + " on host " + host;
        }
    }
}
