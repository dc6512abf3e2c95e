package dev.pgapply.apply.tablesync;

import dev.pgapply.apply.target.postgres.TargetErrors;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.Quoting;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import dev.pgapply.schema.postgres.TableStates;
import dev.pgapply.schema.postgres.TableStates.State;
import dev.pgapply.schema.postgres.TableStates.TableState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// What is written down on the target about a subscription and its tables, through a control session of its
/// own. One thread; each call is a transaction.
public final class ControlTables {

    private final PostgresSession session;
    private final String subscription;
    private final TableStates states;
    private final TargetErrors errors;

    public ControlTables(PostgresSession session, String subscription, TargetErrors errors) {
        this.session = session;
        this.subscription = subscription;
        this.states = new TableStates(subscription);
        this.errors = errors;
    }

    /// How far each table is.
    public Map<TableName, TableState> states() {
        return asking("reading the state of the tables", () -> states.read(session.connection()));
    }

    public void put(Collection<TableName> tables, State state, Lsn copyLsn) {
        asking("storing the state of the tables", () -> {
            states.put(session.connection(), tables, state, copyLsn);
            return state;
        });
    }

    /// The slot that the progress belongs to.
    public Optional<SubscriptionRecord> slot() {
        return asking("reading the stored slot", () -> SubscriptionRecord.read(session.connection(), subscription));
    }

    public void putSlot(SubscriptionRecord slot) {
        asking("storing the slot", () -> {
            slot.write(session.connection(), subscription);
            return slot;
        });
    }

    /// Those of the tables that have rows.
    public List<TableName> filled(Collection<TableSchema> tables) {
        return asking("looking for rows in tables that are to be copied", () -> {
            List<TableName> filled = new ArrayList<>();
            try (Statement statement = session.connection().createStatement()) {
                for (TableSchema table : tables) {
                    try (ResultSet row = statement.executeQuery("SELECT EXISTS (SELECT FROM " + only(table) + ")")) {
                        row.next();
                        if (row.getBoolean(1)) {
                            filled.add(table.name());
                        }
                    }
                }
            }
            return filled;
        });
    }

    /// Empties the tables, all in one statement, since they may refer to each other; in one transaction that
    /// carries the copy's origin, so that the emptying does not travel to whoever follows the target.
    public void truncate(Collection<TableSchema> tables, CopyOrigin origin) {
        asking("emptying tables before their copy", () -> {
            try (Statement statement = session.connection().createStatement()) {
                statement.execute("BEGIN");
                statement.execute(
                        "TRUNCATE " + tables.stream().map(ControlTables::only).collect(Collectors.joining(", ")));
                origin.commit(session.connection());
                return origin;
            }
        });
    }

    private static String only(TableSchema table) {
        return (table.kind() == TableSchema.Kind.PARTITIONED ? "" : "ONLY ") + Quoting.table(table.name());
    }

    @FunctionalInterface
    private interface Question<T> {
        T ask() throws SQLException;
    }

    private <T> T asking(String doing, Question<T> question) {
        try {
            return question.ask();
        } catch (SQLException e) {
            throw errors.translate(doing, e);
        }
    }
}
