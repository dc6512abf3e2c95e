package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException.NotPermitted;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/// The schema `pgapply` of a target: created and upgraded by versioned migrations.
///
/// A role that may only read and write the tables is enough where the schema is up to date. Two instances that start at
/// once wait for each other.
public final class ControlSchema {

    public static final String NAME = "pgapply";

    /// The version that this program's statements need.
    static final String VERSION = "1";

    private static final String MIGRATIONS = "classpath:dev/pgapply/schema/postgres/control";

    private ControlSchema() {}

    /// Brings the schema up to date.
    ///
    /// @param session any session of the target
    /// @param target gives further connections, for the migrations
    /// @throws NotPermitted if the role may not create what is missing
    public static void migrate(PostgresSession session, DataSource target) {
        try {
            if (!isUpToDate(session.connection())) {
                migrate(target);
            }
        } catch (SQLException e) {
            throw SqlFailure.during("looking for the control schema", e);
        }
    }

    private static boolean isUpToDate(Connection connection) throws SQLException {
        try (PreparedStatement exists =
                        connection.prepareStatement("SELECT pg_catalog.to_regclass('pgapply.flyway_schema_history')"
                                + " IS NOT NULL AND pg_catalog.has_table_privilege("
                                + "'pgapply.flyway_schema_history', 'SELECT')");
                ResultSet answer = exists.executeQuery()) {
            if (!answer.next() || !answer.getBoolean(1)) {
                return false;
            }
        }
        try (PreparedStatement applied = connection.prepareStatement(
                "SELECT count(*) FROM pgapply.flyway_schema_history WHERE success AND version = ?")) {
            applied.setString(1, VERSION);
            try (ResultSet answer = applied.executeQuery()) {
                return answer.next() && answer.getLong(1) > 0;
            }
        }
    }

    private static void migrate(DataSource target) {
        try {
            Flyway.configure(ControlSchema.class.getClassLoader())
                    .dataSource(target)
                    .locations(MIGRATIONS)
                    .schemas(NAME)
                    .createSchemas(true)
                    .failOnMissingLocations(true)
                    .loggers("slf4j")
                    .load()
                    .migrate();
        } catch (FlywayException e) {
            SQLException sql = sqlCause(e);
            if (sql != null && "42501".equals(sql.getSQLState())) {
                throw new NotPermitted(
                        "the control schema cannot be created: " + SqlFailure.primaryMessage(sql),
                        "On the target: GRANT CREATE ON DATABASE … TO the target's role; or run once as a role that may"
                                + " create schema pgapply, then GRANT USAGE ON SCHEMA pgapply and ALL ON ALL TABLES IN SCHEMA"
                                + " pgapply to it.",
                        "42501",
                        e);
            }
            throw sql == null ? e : SqlFailure.during("upgrading the control schema", sql);
        }
    }

    private static @org.jspecify.annotations.Nullable SQLException sqlCause(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                return sql;
            }
        }
        return null;
    }
}
