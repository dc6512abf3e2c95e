package dev.pgapply.schema.postgres;

import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.ServerUnsuitable;
import dev.pgapply.schema.SchemaException.StatementFailed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;

/// The schema `pgapply` of a PostgreSQL target, in which subscriptions, progress and table states are kept.
public final class ControlSchema {

    /// Its name. Tables in it are never copied or followed.
    public static final String NAME = "pgapply";

    /// The version that this program works with: the number of the newest migration.
    public static final int VERSION = 2;

    private static final String MIGRATIONS = "classpath:dev/pgapply/schema/postgres/migration";
    private static final String HISTORY = "schema_history";

    // Any number that nobody else is likely to lock.
    private static final long LOCK = 0x7067_6170_706c_7900L;
    private static final String LOCK_PATIENCE = "60s";

    private ControlSchema() {}

    /// Brings the schema to [#VERSION]. Where it is there already, nothing but reading is tried, so a role
    /// without the right to create anything will do. Instances that come at the same time wait for each other.
    ///
    /// @throws NotPermitted if the schema must be created or changed and the role may not, or may not read it
    /// @throws ServerUnsuitable if a newer version of this program has changed the schema already
    /// @throws SchemaException if the target fails otherwise
    public static void migrate(PostgresConnector target) {
        try (PostgresSession session = target.open(SessionProfile.TARGET_CONTROL)) {
            if (isCurrent(session.connection(), target)) {
                return;
            }
            lock(session.connection());
            if (!isCurrent(session.connection(), target)) {
                migrateLocked(target);
            }
        }
    }

    /// The version that is there, 0 where the schema is not.
    ///
    /// @throws NotPermitted if the role may not read it
    public static int installedVersion(PostgresSession target) {
        try (Statement statement = target.connection().createStatement()) {
            try (ResultSet row = statement.executeQuery(
                    "SELECT pg_catalog.to_regclass('" + NAME + "." + HISTORY + "') IS NOT NULL")) {
                row.next();
                if (!row.getBoolean(1)) {
                    return 0;
                }
            }
            try (ResultSet row = statement.executeQuery("SELECT pg_catalog.max(version::pg_catalog.int4) FROM " + NAME
                    + "." + HISTORY + " WHERE success AND version IS NOT NULL")) {
                row.next();
                return row.getInt(1);
            }
        } catch (SQLException e) {
            throw reading(e);
        }
    }

    private static boolean isCurrent(Connection connection, PostgresConnector target) {
        int installed = installedVersion(PostgresSession.of(connection));
        if (installed > VERSION) {
            throw new ServerUnsuitable(
                    "schema " + NAME + " at " + target.endpoint() + " has version " + installed
                            + ", and this program knows " + VERSION,
                    "Run the newer version of pgapply that changed it.");
        }
        return installed == VERSION;
    }

    // Held until the session is closed.
    private static void lock(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            PinnedSettings.set(connection, Map.of("lock_timeout", LOCK_PATIENCE));
            statement.execute("SELECT pg_catalog.pg_advisory_lock(" + LOCK + ")");
        } catch (SQLException e) {
            throw SqlFailure.during("waiting for another instance that changes schema " + NAME, e);
        }
    }

    private static void migrateLocked(PostgresConnector target) {
        try {
            Flyway.configure()
                    .dataSource(target.dataSource(SessionProfile.TARGET_CONTROL))
                    .defaultSchema(NAME)
                    .schemas(NAME)
                    .table(HISTORY)
                    .locations(MIGRATIONS)
                    .failOnMissingLocations(true)
                    .placeholderReplacement(false)
                    .load()
                    .migrate();
        } catch (FlywayException e) {
            throw migrating(target, e);
        }
    }

    private static SchemaException migrating(PostgresConnector target, FlywayException failure) {
        String doing = "creating the tables of schema " + NAME + " at " + target.endpoint();
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SchemaException known) {
                return known;
            }
            if (cause instanceof SQLException e) {
                if (!SqlFailure.state(e).equals("42501")) {
                    return SqlFailure.during(doing, e);
                }
                return new NotPermitted(
                        doing + ": " + SqlFailure.primaryMessage(e),
                        "GRANT CREATE ON DATABASE "
                                + Quoting.identifier(target.endpoint().database()) + " TO "
                                + Quoting.identifier(target.endpoint().user())
                                + ";\nOr let a role that may create the schema run pgapply once.",
                        SqlFailure.state(e),
                        e);
            }
        }
        return new StatementFailed(doing + " failed", "", null, failure);
    }

    private static SchemaException reading(SQLException e) {
        String doing = "reading schema " + NAME;
        return SqlFailure.state(e).equals("42501")
                ? new NotPermitted(
                        doing + ": " + SqlFailure.primaryMessage(e),
                        "GRANT USAGE ON SCHEMA " + NAME + " TO the role;\n"
                                + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + NAME
                                + " TO the role;",
                        SqlFailure.state(e),
                        e)
                : SqlFailure.during(doing, e);
    }
}
