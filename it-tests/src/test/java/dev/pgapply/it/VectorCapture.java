package dev.pgapply.it;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Runs a [VectorScenario] in a database of its own and reads what pgoutput makes of it, through the server's
/// SQL function: no replication connection is needed, and the slot's position does not move.
final class VectorCapture {

    private static final String SLOT = "pgapply_vectors";
    private static final String DATABASE = "pgapply_vectors";

    private final Function<String, Connection> sessions;
    private final int major;

    VectorCapture(Function<String, Connection> sessions, int major) {
        this.sessions = sessions;
        this.major = major;
    }

    /// The messages per set of options, by its name.
    Map<String, List<byte[]>> run(VectorScenario scenario) throws SQLException {
        try (Connection admin = connect("postgres")) {
            execute(admin, "CREATE DATABASE " + DATABASE + " TEMPLATE template0 ENCODING 'UTF8'");
            try {
                return runInDatabase(scenario);
            } finally {
                execute(admin, "DROP DATABASE " + DATABASE);
            }
        }
    }

    private Map<String, List<byte[]>> runInDatabase(VectorScenario scenario) throws SQLException {
        try (Connection main = connect(DATABASE)) {
            for (String sql : scenario.setup()) {
                execute(main, sql);
            }
            execute(
                    main,
                    "SELECT pg_create_logical_replication_slot('" + SLOT + "', 'pgoutput'"
                            + (scenario.twoPhaseSlot() ? ", false, true)" : ")"));
            try {
                runSteps(scenario.steps());
                Map<String, List<byte[]>> captured = new LinkedHashMap<>();
                for (VectorScenario.Decode decode : scenario.decodes()) {
                    if (major >= decode.fromMajor()) {
                        captured.put(decode.name(), peek(main, scenario, decode));
                    }
                }
                return captured;
            } finally {
                execute(main, "SELECT pg_drop_replication_slot('" + SLOT + "')");
                for (String sql : scenario.cleanup()) {
                    execute(main, sql);
                }
            }
        }
    }

    private void runSteps(List<VectorScenario.Step> steps) throws SQLException {
        Map<String, Connection> open = new HashMap<>();
        try {
            for (VectorScenario.Step step : steps) {
                Connection session = open.get(step.session());
                if (session == null) {
                    session = connect(DATABASE);
                    open.put(step.session(), session);
                }
                execute(session, step.sql());
            }
        } finally {
            for (Connection session : open.values()) {
                session.close();
            }
        }
    }

    private List<byte[]> peek(Connection connection, VectorScenario scenario, VectorScenario.Decode decode)
            throws SQLException {
        if (major >= 13) {
            execute(connection, "SET logical_decoding_work_mem = '64kB'");
        }
        List<String> options = new ArrayList<>(List.of("publication_names", String.join(",", scenario.publications())));
        decode.options().forEach((option, value) -> options.addAll(List.of(option, value)));
        String places = ", ?".repeat(options.size());
        try (PreparedStatement peek = connection.prepareStatement(
                "SELECT data FROM pg_logical_slot_peek_binary_changes(?, NULL, NULL" + places + ")")) {
            peek.setString(1, SLOT);
            for (int i = 0; i < options.size(); i++) {
                peek.setString(i + 2, options.get(i));
            }
            List<byte[]> messages = new ArrayList<>();
            try (ResultSet changes = peek.executeQuery()) {
                while (changes.next()) {
                    messages.add(changes.getBytes(1));
                }
            }
            return messages;
        }
    }

    private Connection connect(String database) {
        return sessions.apply(database);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
