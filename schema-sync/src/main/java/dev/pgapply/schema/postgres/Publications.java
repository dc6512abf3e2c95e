package dev.pgapply.schema.postgres;

import dev.pgapply.schema.PublishedTable;
import dev.pgapply.schema.SchemaException.NotPermitted;
import dev.pgapply.schema.SchemaException.PublicationUnusable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The publications of a source database. Belongs to its connection's thread.
public final class Publications {

    private final Connection connection;
    private final int serverVersion;

    public Publications(PostgresSession session) {
        this.connection = session.connection();
        this.serverVersion = session.serverVersion();
    }

    /// What a publication is, apart from its tables.
    ///
    /// @param viaRoot changes of partitions arrive under the name of the topmost published table
    public record Publication(
            String name,
            boolean allTables,
            boolean inserts,
            boolean updates,
            boolean deletes,
            boolean truncates,
            boolean viaRoot) {}

    /// Every publication of the database, by name, sorted.
    public Map<String, Publication> all() {
        String sql = "SELECT pubname, puballtables, pubinsert, pubupdate, pubdelete, "
                + (serverVersion >= 110_000 ? "pubtruncate, " : "false, ")
                + (serverVersion >= 130_000 ? "pubviaroot" : "false")
                + " FROM pg_publication ORDER BY pubname::text COLLATE \"C\"";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            Map<String, Publication> publications = new LinkedHashMap<>();
            while (row.next()) {
                Publication publication = new Publication(
                        row.getString(1),
                        row.getBoolean(2),
                        row.getBoolean(3),
                        row.getBoolean(4),
                        row.getBoolean(5),
                        row.getBoolean(6),
                        row.getBoolean(7));
                publications.put(publication.name(), publication);
            }
            return publications;
        } catch (SQLException e) {
            throw SqlFailure.during("reading the publications", e);
        }
    }

    /// The tables that these publications together offer, sorted by name, each once. Tables of the control
    /// schema are left out: a database that is a target itself would otherwise send its own progress along.
    ///
    /// Where one publication publishes through the root and another one a partition below it, the topmost
    /// published table counts, as in the server. Filters are joined with OR, and one publication without a
    /// filter lifts it.
    ///
    /// Waits while somebody holds one of the tables exclusively, as the server's own subscriber does; a
    /// `lock_timeout` of the session limits that.
    ///
    /// @throws PublicationUnusable if a publication does not exist, or if two of them list different columns of
    /// one table
    public List<PublishedTable> publishedTables(Collection<String> publications) {
        Map<String, Publication> known = all();
        List<String> missing =
                publications.stream().filter(name -> !known.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw missing(missing, known);
        }
        try {
            List<PublicationMember> members = members(publications);
            PublishedRelations relations = PublishedRelations.read(
                    connection,
                    serverVersion,
                    members.stream().map(PublicationMember::oid).toList());
            return PublishedTables.merge(members, known, relations, serverVersion);
        } catch (SQLException e) {
            throw SqlFailure.during("reading the tables of publications", e);
        }
    }

    private static PublicationUnusable missing(List<String> names, Map<String, Publication> known) {
        String existing = known.isEmpty() ? "There is none." : "There are: " + String.join(", ", known.keySet()) + ".";
        return new PublicationUnusable(
                (names.size() == 1 ? "publication does not exist: " : "publications do not exist: ")
                        + String.join(", ", names),
                existing + "\nCREATE PUBLICATION " + Quoting.identifier(names.getFirst()) + " FOR ALL TABLES;");
    }

    private List<PublicationMember> members(Collection<String> publications) throws SQLException {
        String sql = "SELECT t.pubname, c.oid, c.relname, n.nspname, "
                + (serverVersion >= 150_000 ? "t.attnames::text[], t.rowfilter" : "NULL::text[], NULL::text")
                + " FROM pg_publication_tables t"
                + " JOIN pg_namespace n ON n.nspname = t.schemaname"
                + " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename"
                + " WHERE t.pubname = ANY (?::name[]) AND n.nspname <> ?";
        List<PublicationMember> members = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("text", publications.toArray()));
            statement.setString(2, ControlSchema.NAME);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    members.add(PublicationMember.of(row));
                }
            }
        }
        return members;
    }

    /// Creates a publication of all tables, those of the future included.
    ///
    /// @param viaRoot publish partitions under the name of their root (13 and newer, ignored before)
    /// @throws NotPermitted if the role is no superuser
    public void createForAllTables(String name, boolean viaRoot) {
        String sql = "CREATE PUBLICATION " + Quoting.identifier(name) + " FOR ALL TABLES"
                + (viaRoot && serverVersion >= 130_000 ? " WITH (publish_via_partition_root = true)" : "");
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            if (SqlFailure.state(e).equals("42501")) {
                throw new NotPermitted(
                        "creating publication " + name + ": " + SqlFailure.primaryMessage(e),
                        "Run as a superuser in the source database, or name tables that the role owns:\n" + sql + ";",
                        SqlFailure.state(e),
                        e);
            }
            throw SqlFailure.during("creating publication " + name, e);
        }
    }
}
