package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.ReplicationOrigins;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.function.Consumer;

/// Where the progress is kept: in the same commit as the rows, either as the session's replication origin or,
/// where the role may not use origins, as a row of the control schema.
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

    /// What a crash would leave, asked on another connection than the one that commits.
    ///
    /// @param committed what has been committed
    Lsn durable(Connection other, Lsn committed) throws SQLException;

    /// Sets the session up. An origin can be set up in one session only, which fences off every other writer.
    ///
    /// Progress that is in one place is never looked for in the other: a role that may use origins now takes
    /// the row's progress along, and one that may not any more is refused.
    ///
    /// @param role the session's role, for what it should be granted
    /// @param warn hears what a missing right costs
    static ProgressStore open(
            Connection session, String origin, String subscription, String role, Consumer<String> warn)
            throws SQLException {
        if (ReplicationOrigins.areUsable(session)) {
            ReplicationOrigins.create(session, origin);
            ReplicationOrigins.setUp(session, origin);
            takeOver(session, subscription);
            return new Origin(origin);
        }
        if (ReplicationOrigins.exists(session, origin)) {
            throw new SetupException(
                    ErrorCode.SETUP,
                    "the target's role " + role + " may not use replication origin " + origin
                            + ", in which the progress is kept",
                    "On the target, as a superuser (before PostgreSQL 14 only superusers may use origins):\n"
                            + ReplicationOrigins.grants(role));
        }
        warn.accept("the target's role " + role + " may not use replication origins: progress is kept in"
                + " pgapply.progress, every commit waits for the target's disk, and those who follow the target"
                + " cannot tell what it has received; docs/privileges.md has the grants");
        return new ControlRow(subscription);
    }

    /// Moves progress from the row to the session's origin, in one commit.
    private static void takeOver(Connection session, String subscription) throws SQLException {
        Lsn row = ControlRow.progress(session, subscription);
        if (!row.isValid()) {
            return;
        }
        try (Statement statement = session.createStatement();
                PreparedStatement delete =
                        session.prepareStatement("DELETE FROM pgapply.progress WHERE subscription = ?");
                PreparedStatement setUp = session.prepareStatement(
                        "SELECT pg_catalog.pg_replication_origin_xact_setup(?::pg_lsn, pg_catalog.now())")) {
            statement.execute("BEGIN");
            statement.execute("SET LOCAL synchronous_commit = on");
            delete.setString(1, subscription);
            delete.executeUpdate();
            setUp.setString(1, row.toString());
            setUp.execute();
            statement.execute("COMMIT");
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
            return progress(session, subscription);
        }

        private static Lsn progress(Connection session, String subscription) throws SQLException {
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
