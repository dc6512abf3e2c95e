package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/// The row of `pgapply.subscription` that says which slot of which source the target's progress belongs to.
///
/// @param sourceSystemId the source cluster's system identifier
/// @param sourceDatabase the source database's name
/// @param slotName the slot
/// @param plugin its output plugin
/// @param confirmed what was confirmed to the source beyond the progress; `0/0` if nothing was
public record SubscriptionRecord(
        String sourceSystemId, String sourceDatabase, String slotName, String plugin, Lsn confirmed) {

    /// Reads it; empty as long as no slot was noted.
    public static Optional<SubscriptionRecord> read(Connection connection, String subscription) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(
                "SELECT source_system_id, source_database, slot_name, plugin, confirmed_lsn::text"
                        + " FROM pgapply.subscription WHERE name = ? AND slot_name IS NOT NULL")) {
            query.setString(1, subscription);
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                String confirmed = row.getString(5);
                return Optional.of(new SubscriptionRecord(
                        row.getString(1),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        confirmed == null ? Lsn.INVALID : Lsn.parse(confirmed)));
            }
        }
    }

    /// Writes it over what was there.
    public void write(Connection connection, String subscription) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(
                "INSERT INTO pgapply.subscription AS s (name, source_system_id, source_database, slot_name, plugin,"
                        + " confirmed_lsn) VALUES (?, ?, ?, ?, ?, ?::pg_lsn) ON CONFLICT (name) DO UPDATE SET"
                        + " source_system_id = excluded.source_system_id, source_database = excluded.source_database,"
                        + " slot_name = excluded.slot_name, plugin = excluded.plugin,"
                        + " confirmed_lsn = excluded.confirmed_lsn")) {
            update.setString(1, subscription);
            update.setString(2, sourceSystemId);
            update.setString(3, sourceDatabase);
            update.setString(4, slotName);
            update.setString(5, plugin);
            update.setString(6, confirmed.toString());
            update.executeUpdate();
        }
    }
}
