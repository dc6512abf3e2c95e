package dev.pgapply.it;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;

/// Takes the arguments of `pgapply run` and lets the target server's own subscription do the work: something
/// known to be right to try the demo with.
final class NativeSubscription {

    private NativeSubscription() {}

    /// The same with a fault: it loses a row when it is started again after a crash.
    static final class Faulty {
        private Faulty() {}

        public static void main(String[] args) throws SQLException, InterruptedException {
            try (Connection target = connect(args[6])) {
                if (exists(target)) {
                    execute(target, "DELETE FROM shop.stores WHERE id = 7");
                }
            }
            NativeSubscription.main(args);
        }
    }

    public static void main(String[] args) throws SQLException, InterruptedException {
        try (Connection source = connect(args[4]);
                Connection target = connect(args[6])) {
            if (!exists(target)) {
                execute(source, "CREATE PUBLICATION native FOR ALL TABLES");
                execute(target, "CREATE SUBSCRIPTION native CONNECTION '" + args[4] + "' PUBLICATION native");
            }
        }
        // SIGTERM is a regular end, as it is of pgapply.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        new CountDownLatch(1).await();
    }

    private static Connection connect(String uri) throws SQLException {
        return DriverManager.getConnection("jdbc:" + uri.replace("postgres@", ""), "postgres", "");
    }

    private static boolean exists(Connection target) throws SQLException {
        try (Statement statement = target.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 1 FROM pg_subscription")) {
            return rows.next();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
