package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.postgres.Quoting;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/// The source transactions that this subscription has prepared on the target and not ended.
///
/// What was prepared tells afterwards how it ended: each inserts a row of `pgapply.prepared`, which can be seen
/// once it is committed. The position of a replication origin, which the server's own subscription goes by,
/// tells less: it does not say whether a commit that was never answered has happened.
///
/// @see <a href="https://www.postgresql.org/docs/current/sql-prepare-transaction.html">PREPARE TRANSACTION</a>
final class PreparedTransactions {

    private final String subscription;
    private final String prefix;
    /// Their identifiers on the target, by transaction at the source.
    private final Map<Integer, String> gids = new TreeMap<>(Integer::compareUnsigned);
    /// Those of an earlier run that are committed, though its progress does not say so.
    private final Set<Integer> committed = new HashSet<>();

    private PreparedTransactions(String subscription, String prefix) {
        this.subscription = subscription;
        this.prefix = prefix;
    }

    /// Finds those that an earlier run has left.
    ///
    /// @param sourceSystemId the source's cluster, since transaction ids belong to it
    static PreparedTransactions read(Connection session, String subscription, String objectName, String sourceSystemId)
            throws SQLException {
        PreparedTransactions found = new PreparedTransactions(subscription, objectName + "_" + sourceSystemId + "_");
        try (PreparedStatement query =
                session.prepareStatement("SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE database ="
                        + " pg_catalog.current_database() AND pg_catalog.left(gid, ?) = ?")) {
            query.setInt(1, found.prefix.length());
            query.setString(2, found.prefix);
            found.forEach(query, found.gids::put);
        }
        // In this order: one that is committed just now leaves pg_prepared_xacts after its row can be seen.
        try (PreparedStatement query = session.prepareStatement(
                "SELECT gid FROM pgapply.prepared WHERE subscription = ? AND pg_catalog.left(gid, ?) = ?")) {
            query.setString(1, subscription);
            query.setInt(2, found.prefix.length());
            query.setString(3, found.prefix);
            found.forEach(query, (xid, gid) -> found.committed.add(xid));
        }
        return found;
    }

    private void forEach(PreparedStatement query, BiConsumer<Integer, String> found) throws SQLException {
        try (ResultSet row = query.executeQuery()) {
            while (row.next()) {
                String gid = row.getString(1);
                try {
                    found.accept(Integer.parseUnsignedInt(gid.substring(prefix.length())), gid);
                } catch (NumberFormatException e) {
                    // Somebody else's, with a name that begins like ours.
                }
            }
        }
    }

    boolean isPrepared(int xid) {
        return !gids.isEmpty() && gids.containsKey(xid);
    }

    /// Whether its changes are here, prepared or committed.
    boolean isHere(int xid) {
        return isPrepared(xid) || (!committed.isEmpty() && committed.contains(xid));
    }

    Collection<String> gids() {
        return gids.values();
    }

    void prepared(int xid) {
        gids.put(xid, gid(xid));
    }

    void ended(int xid) {
        gids.remove(xid);
        committed.remove(xid);
    }

    /// Whatever the source calls it, which may be nothing at all, or what another source says too.
    String gid(int xid) {
        return prefix + Integer.toUnsignedString(xid);
    }

    /// What a transaction that will be prepared says of itself.
    String witnessSql(int xid) {
        return "INSERT INTO pgapply.prepared (subscription, gid) VALUES (" + Quoting.literal(subscription) + ", "
                + Quoting.literal(gid(xid)) + ")";
    }

    String prepareSql(int xid) {
        return "PREPARE TRANSACTION " + Quoting.literal(gid(xid));
    }

    String commitSql(int xid) {
        return "COMMIT PREPARED " + Quoting.literal(gid(xid));
    }

    String rollbackSql(int xid) {
        return "ROLLBACK PREPARED " + Quoting.literal(gid(xid));
    }

    /// Removes what [#witnessSql] left.
    String forgetSql(int xid) {
        return "DELETE FROM pgapply.prepared WHERE subscription = " + Quoting.literal(subscription) + " AND gid = "
                + Quoting.literal(gid(xid));
    }

    /// Whether what was prepared is committed.
    boolean isCommitted(Connection session, int xid) throws SQLException {
        try (PreparedStatement query =
                session.prepareStatement("SELECT FROM pgapply.prepared WHERE subscription = ? AND gid = ?")) {
            query.setString(1, subscription);
            query.setString(2, gid(xid));
            try (ResultSet row = query.executeQuery()) {
                return row.next();
            }
        }
    }
}
