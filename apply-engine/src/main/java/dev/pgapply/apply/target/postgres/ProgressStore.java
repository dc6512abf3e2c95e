package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.ReplicationOrigins;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/// Where the progress is kept: in rows of `pgapply.progress`, one for each commit, written with its rows and
/// read back as the highest.
///
/// Not in the session's replication origin, although that is what origins are for: a server from 16 on moves an
/// origin to the position that was set up for a transaction even if that transaction is rolled back in the end
/// (`RecordTransactionAbort`), because its COMMIT fails, the session is terminated or its client is gone. The
/// origin says which commits are ours, keeps other writers out, and its log position is what a flush waits for.
///
/// New rows instead of one that is updated: while an old snapshot is held somewhere, the versions of an updated
/// row would have to be walked through again with each commit.
///
/// @see <a href="https://www.postgresql.org/docs/current/replication-origins.html">Replication progress
/// tracking</a>
sealed interface ProgressStore {

    /// The progress that has survived, `0/0` if there is none. Only after this session has fenced off all
    /// others.
    Lsn read(Connection session) throws SQLException;

    /// The statement that must come last before `COMMIT`; its parameters are the position as `pg_lsn` and the
    /// commit time as `timestamptz`.
    String writeSql();

    /// Statement that forgets what [#writeSql] left in a session whose transaction did not commit; empty if
    /// nothing is left.
    String resetSql();

    /// What goes before `COMMIT PREPARED`, so that its record has position and time; parameters as for [#writeSql].
    Optional<String> endsPreparedWith();

    /// What a crash would leave, asked on another connection than the one that commits.
    ///
    /// @param committed what has been committed
    Lsn durable(Connection other, Lsn committed) throws SQLException;

    /// Sets the session up. An origin can be set up in one session only, which fences off every other writer.
    ///
    /// @param role the session's role, for what it should be granted
    /// @param warn hears what a missing right costs
    static ProgressStore open(
            Connection session, String origin, String subscription, String role, Consumer<String> warn)
            throws SQLException {
        if (ReplicationOrigins.areUsable(session)) {
            ReplicationOrigins.create(session, origin);
            ReplicationOrigins.setUp(session, origin);
            return new WithOrigin(origin, subscription);
        }
        if (ReplicationOrigins.exists(session, origin)) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the target's role " + role + " may not use replication origin " + origin
                            + " any more, by which others know its commits",
                    "On the target, as a superuser (before PostgreSQL 14 only superusers may use origins):\n"
                            + ReplicationOrigins.grants(role));
        }
        warn.accept("the target's role " + role + " may not use replication origins: every commit waits for the"
                + " target's disk, and those who follow the target cannot tell what it has received;"
                + " docs/privileges.md has the grants");
        return new WithoutOrigin(subscription);
    }

    /// Sets up a session that commits for the subscription besides that of [#open]. The two cannot share an origin.
    ///
    /// @param store that of the other
    /// @param number tells such sessions apart
    static void join(ProgressStore store, Connection session, int number) throws SQLException {
        switch (store) {
            case WithOrigin main -> {
                String origin = main.earlyPrefix() + number;
                ReplicationOrigins.create(session, origin);
                ReplicationOrigins.setUp(session, origin);
            }
            case WithoutOrigin ignored -> commitSynchronously(session);
        }
    }

    private static void commitSynchronously(Connection session) throws SQLException {
        try (PreparedStatement synchronous = session.prepareStatement("SET synchronous_commit = on")) {
            synchronous.execute();
        }
    }

    /// With replication origins: commits need not wait for the disk.
    ///
    /// @param name of the origin of the session that holds the lock
    record WithOrigin(String name, String subscription) implements ProgressStore {

        /// How the names of the other sessions' origins begin. No subscription can have such a name.
        String earlyPrefix() {
            return name + ":early";
        }

        @Override
        public Lsn read(Connection session) throws SQLException {
            // First of all, what the row says has to be durable.
            Lsn origin = durable(session, Lsn.INVALID);
            Lsn row = highest(session, subscription);
            // An origin without a row belongs to another database, or to a start that did not come to its end.
            return row.isValid() ? row : origin;
        }

        @Override
        public String writeSql() {
            return "WITH progress AS (" + insert(subscription) + ")"
                    + " SELECT pg_catalog.pg_replication_origin_xact_setup($1, $2)";
        }

        @Override
        public Optional<String> endsPreparedWith() {
            return Optional.of("SELECT pg_catalog.pg_replication_origin_xact_setup($1, $2)");
        }

        @Override
        public String resetSql() {
            return "SELECT pg_catalog.pg_replication_origin_xact_reset()";
        }

        /// Flushes the target's log up to the last commit of each origin and answers the last of their positions:
        /// the commits of all of them together are in the source's order.
        @Override
        public Lsn durable(Connection other, Lsn committed) throws SQLException {
            try (PreparedStatement query = other.prepareStatement("SELECT lsn::text FROM"
                    + " (SELECT pg_catalog.pg_replication_origin_progress(roname, true) AS lsn"
                    + " FROM pg_catalog.pg_replication_origin WHERE roname = ?"
                    + " OR pg_catalog.left(roname, ?) = ? OFFSET 0) AS flushed"
                    + " WHERE lsn IS NOT NULL ORDER BY lsn DESC LIMIT 1")) {
                query.setString(1, name);
                query.setInt(2, earlyPrefix().length());
                query.setString(3, earlyPrefix());
                return lsn(query);
            }
        }
    }

    /// Without an origin: every commit waits for the disk.
    record WithoutOrigin(String subscription) implements ProgressStore {

        @Override
        public Lsn read(Connection session) throws SQLException {
            commitSynchronously(session);
            return highest(session, subscription);
        }

        @Override
        public String writeSql() {
            return insert(subscription);
        }

        @Override
        public Optional<String> endsPreparedWith() {
            return Optional.empty();
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

    private static String insert(String subscription) {
        return "INSERT INTO pgapply.progress (subscription, lsn, commit_time) VALUES (" + Quoting.literal(subscription)
                + ", $1, $2)";
    }

    private static Lsn highest(Connection session, String subscription) throws SQLException {
        try (PreparedStatement query = session.prepareStatement(
                "SELECT lsn::text FROM pgapply.progress WHERE subscription = ? ORDER BY lsn DESC LIMIT 1")) {
            query.setString(1, subscription);
            return lsn(query);
        }
    }

    /// Removes the rows that newer durable ones have made superfluous.
    ///
    /// @param from nothing is left before it
    /// @param durable the row of this position stays, or that of the last one before
    static void prune(Connection other, String subscription, Lsn from, Lsn durable) throws SQLException {
        try (PreparedStatement delete = other.prepareStatement(
                "DELETE FROM pgapply.progress WHERE subscription = ? AND lsn >= ?::pg_lsn AND lsn <"
                        + " (SELECT lsn FROM pgapply.progress WHERE subscription = ? AND lsn <= ?::pg_lsn"
                        + " ORDER BY lsn DESC LIMIT 1)")) {
            delete.setString(1, subscription);
            delete.setString(2, from.toString());
            delete.setString(3, subscription);
            delete.setString(4, durable.toString());
            delete.executeUpdate();
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
