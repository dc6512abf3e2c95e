package dev.pgapply.cli.embedded.demo;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.decoder.Lsn;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/// Up to which position of the source the target has committed, as the target itself knows it.
final class TargetProgress implements AutoCloseable {

    private static final String READ = "SELECT max(remote_lsn) FROM pg_replication_origin_status";

    private final Connection connection;
    private final PreparedStatement read;

    TargetProgress(PostgresServer target) {
        try {
            connection = target.connect(Shop.DATABASE);
            read = connection.prepareStatement(READ);
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    Lsn position() {
        try (ResultSet row = read.executeQuery()) {
            row.next();
            return Optional.ofNullable(row.getString(1)).map(Lsn::parse).orElse(Lsn.INVALID);
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    private static DemoException unreadable(SQLException e) {
        return new DemoException("the target's progress cannot be read: " + e.getMessage(), e);
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }
}
