package dev.pgapply.schema.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// The settings every session of ours runs with, whatever was set for the role, the database or the server:
/// those that change how values look as text, and those that would end a long copy or forbid a write. Each
/// holds in the spelling in which the server shows it.
final class PinnedSettings {

    private PinnedSettings() {}

    /// In the order in which they are set; the time limits come first, so that they cannot hit the others.
    static Map<String, String> of(int majorVersion, String clientEncoding) {
        Map<String, String> pinned = new LinkedHashMap<>();
        pinned.put("statement_timeout", "0");
        pinned.put("lock_timeout", "0");
        pinned.put("idle_in_transaction_session_timeout", "0");
        if (majorVersion >= 14) {
            pinned.put("idle_session_timeout", "0");
        }
        if (majorVersion >= 17) {
            pinned.put("transaction_timeout", "0");
        }
        pinned.put("search_path", "");
        pinned.put("client_encoding", clientEncoding);
        pinned.put("DateStyle", "ISO, MDY");
        pinned.put("IntervalStyle", "postgres");
        pinned.put("TimeZone", "UTC");
        pinned.put("extra_float_digits", "3");
        pinned.put("bytea_output", "hex");
        pinned.put("lc_monetary", "C");
        pinned.put("xmloption", "content");
        pinned.put("array_nulls", "on");
        pinned.put("standard_conforming_strings", "on");
        pinned.put("quote_all_identifiers", "off");
        pinned.put("row_security", "off");
        pinned.put("default_transaction_read_only", "off");
        pinned.put("default_transaction_isolation", "read committed");
        pinned.put("default_transaction_deferrable", "off");
        if (majorVersion >= 11) {
            pinned.put("jit", "off");
        }
        return pinned;
    }

    /// Sets them, and others, in one statement; any failure leaves none of them set.
    static void set(Connection connection, Map<String, String> settings) throws SQLException {
        String calls = settings.entrySet().stream()
                .map(setting -> "pg_catalog.set_config(" + Quoting.literal(setting.getKey()) + ", "
                        + Quoting.literal(setting.getValue()) + ", false)")
                .collect(Collectors.joining(", "));
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT " + calls);
        }
    }

    /// Reads them back: `name is 'value'` for each one that does not hold.
    static List<String> differing(Connection connection, Map<String, String> pinned) throws SQLException {
        String calls = pinned.keySet().stream()
                .map(name -> "pg_catalog.current_setting(" + Quoting.literal(name) + ")")
                .collect(Collectors.joining(", "));
        List<String> differing = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + calls)) {
            row.next();
            int column = 0;
            for (Map.Entry<String, String> setting : pinned.entrySet()) {
                String shown = row.getString(++column);
                if (!setting.getValue().equals(shown)) {
                    differing.add(setting.getKey() + " is '" + shown + "'");
                }
            }
        }
        return differing;
    }
}
