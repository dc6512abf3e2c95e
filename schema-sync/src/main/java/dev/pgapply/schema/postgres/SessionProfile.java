package dev.pgapply.schema.postgres;

import java.util.LinkedHashMap;
import java.util.Map;

/// What a connection is for, and what that asks of its session. Start from one of the constants.
///
/// @param purpose for messages and for the tail of `application_name`
/// @param replication a walsender's session: replication commands, and SQL in simple mode
/// @param replicaRole the session runs with `session_replication_role = replica`
/// @param unconverted the server converts no characters: see [#withoutConversion()]
/// @param settings further server settings, set after the pinned ones and not verified
/// @param driverProperties further pgjdbc properties; they beat the endpoint's and the connector's
public record SessionProfile(
        String purpose,
        boolean replication,
        boolean replicaRole,
        boolean unconverted,
        Map<String, String> settings,
        Map<String, String> driverProperties) {

    /// Catalog queries and slot management on the source.
    public static final SessionProfile SOURCE_CONTROL = plain("source control");
    /// Reads tables of the source.
    public static final SessionProfile SOURCE_COPY = plain("source copy");
    /// Streams changes; takes replication commands.
    public static final SessionProfile SOURCE_REPLICATION =
            new SessionProfile("source replication", true, false, false, Map.of(), Map.of());
    /// Writes changes to the target; the server notices within a second when this process is gone.
    public static final SessionProfile TARGET_APPLY =
            replica("target apply").with("client_min_messages", "error").with("client_connection_check_interval", "1s");
    /// Catalog queries, control tables and durable progress on the target.
    public static final SessionProfile TARGET_CONTROL = plain("target control").with("client_min_messages", "error");
    /// Writes copied rows to the target.
    public static final SessionProfile TARGET_COPY = replica("target copy").with("client_min_messages", "error");

    public SessionProfile {
        settings = Map.copyOf(settings);
        driverProperties = Map.copyOf(driverProperties);
    }

    /// The same with one more server setting.
    public SessionProfile with(String setting, String value) {
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(setting, value);
        return new SessionProfile(purpose, replication, replicaRole, unconverted, more, driverProperties);
    }

    /// The same with one more pgjdbc property.
    public SessionProfile withDriverProperty(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(driverProperties);
        more.put(name, value);
        return new SessionProfile(purpose, replication, replicaRole, unconverted, settings, more);
    }

    /// The same in the ordinary role: triggers, rules and cascades of the target fire.
    public SessionProfile withTriggersAllowed() {
        return new SessionProfile(purpose, replication, false, unconverted, settings, driverProperties);
    }

    /// The same without any conversion of characters between database and client, for data sessions on both
    /// sides as soon as one of the two databases has the encoding `SQL_ASCII`: nobody knows what its bytes
    /// mean, so they pass as they are. Control sessions stay in UTF-8.
    ///
    /// In a `SQL_ASCII` database the client's encoding is `LATIN1` then: the server checks and changes nothing,
    /// and each byte is one `char` of a Java string and back. Elsewhere it is the database's own encoding.
    public SessionProfile withoutConversion() {
        return new SessionProfile(purpose, replication, replicaRole, true, settings, driverProperties);
    }

    private static SessionProfile plain(String purpose) {
        return new SessionProfile(purpose, false, false, false, Map.of(), Map.of());
    }

    private static SessionProfile replica(String purpose) {
        return new SessionProfile(purpose, false, true, false, Map.of(), Map.of());
    }
}
