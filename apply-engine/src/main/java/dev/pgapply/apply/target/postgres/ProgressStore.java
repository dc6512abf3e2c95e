package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Where the progress is kept: in the same commit as the rows, either as the session's replication origin or,
/// where the role may not use origins, as a row of the control schema.
///
/// @see <a href="https://www.postgresql.org/docs/current/replication-origins.html">Replication progress
/// tracking</a>
sealed interface ProgressStore {

    Logger LOG = LoggerFactory.getLogger(ProgressStore.class);

    /// The SQLSTATE for an origin that another session has.
    String IN_USE = "55006";

    Duration PATIENCE = Duration.ofSeconds(3);
    Duration BETWEEN_TRIES = Duration.ofMillis(50);

    /// The progress that has survived, `0/0` if there is none. Only after this session has fenced off all
    /// others.
    Lsn read(Connection session) throws SQLException;

    /// The statement that must come last before `COMMIT`; its parameters are the position as `pg_lsn` and the
    /// commit time as `timestamptz`.
    String writeSql();

    /// Statement that forgets what [#writeSql] left in a session whose transaction did not commit; empty if
    /// nothing is left.
    String resetSql();

    /// What a crash would leave, asked on another connection than the one that commits.
    ///
    /// @param committed what has been committed
    Lsn durable(Connection other, Lsn committed) throws SQLException;

    /// Sets the session up. An origin can be set up in one session only, which fences off every other writer.
    static ProgressStore open(Connection session, String origin, String subscription)
            throws SQLException, InterruptedException {
        try {
            try (PreparedStatement create =
                    session.prepareStatement("SELECT CASE WHEN pg_catalog.pg_replication_origin_oid(?) IS NULL"
                            + " THEN pg_catalog.pg_replication_origin_create(?) END")) {
                create.setString(1, origin);
                create.setString(2, origin);
                create.execute();
            }
            setUp(session, origin);
            return new Origin(origin);
        } catch (SQLException e) {
            if (!"42501".equals(e.getSQLState())) {
                throw e;
            }
            LOG.warn(
                    "the target's role may not use replication origins: progress is kept in pgapply.progress, and every"
                            + " commit waits for the target's disk");
            return new ControlRow(subscription);
        }
    }

    /// A session that ends gives its advisory locks back a moment before its origin.
    private static void setUp(Connection session, String origin) throws SQLException, InterruptedException {
        long start = System.nanoTime();
        while (true) {
            try (PreparedStatement setUp =
                    session.prepareStatement("SELECT pg_catalog.pg_replication_origin_session_setup(?)")) {
                setUp.setString(1, origin);
                setUp.execute();
                return;
            } catch (SQLException e) {
                if (!IN_USE.equals(e.getSQLState()) || System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw e;
                }
            }
            Thread.sleep(BETWEEN_TRIES);
        }
    }

    /// A replication origin: progress travels in the commit record itself.
    record Origin(String name) implements ProgressStore {

        @Override
        public Lsn read(Connection session) throws SQLException {
            return durable(session, Lsn.INVALID);
        }

        @Override
        public String writeSql() {
            return "SELECT pg_catalog.pg_replication_origin_xact_setup($1, $2)";
        }

        @Override
        public String resetSql() {
            return "SELECT pg_catalog.pg_replication_origin_xact_reset()";
        }

        /// Flushes the target's log up to the origin's last commit and answers the position of that commit.
        @Override
        public Lsn durable(Connection other, Lsn committed) throws SQLException {
            try (PreparedStatement query =
                    other.prepareStatement("SELECT pg_catalog.pg_replication_origin_progress(?, true)::text")) {
                query.setString(1, name);
                return lsn(query);
            }
        }
    }

    /// A row of the control schema, written with a synchronous commit.
    record ControlRow(String subscription) implements ProgressStore {

        @Override
        public Lsn read(Connection session) throws SQLException {
            try (PreparedStatement synchronous = session.prepareStatement("SET synchronous_commit = on")) {
                synchronous.execute();
            }
            try (PreparedStatement query =
                    session.prepareStatement("SELECT lsn::text FROM pgapply.progress WHERE subscription = ?")) {
                query.setString(1, subscription);
                return lsn(query);
            }
        }

        @Override
        public String writeSql() {
            String name = dev.pgapply.schema.postgres.Quoting.literal(subscription);
            return "INSERT INTO pgapply.progress AS p (subscription, lsn, commit_time) VALUES (" + name + ", $1, $2)"
                    + " ON CONFLICT (subscription) DO UPDATE SET lsn = excluded.lsn, commit_time = excluded.commit_time";
        }

        @Override
        public String resetSql() {
            return "";
        }

        @Override
        public Lsn durable(Connection other, Lsn committed) {
            return committed;
        }
    }

    private static Lsn lsn(PreparedStatement query) throws SQLException {
        try (ResultSet answer = query.executeQuery()) {
            String text = answer.next() ? answer.getString(1) : null;
            return text == null ? Lsn.INVALID : Lsn.parse(text);
        }
    }

    /// How a commit time is written as a parameter.
    static String timestamp(Instant time) {
        return time.toString();
    }
}
