package dev.pgapply.cli.embedded.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/// What customers and staff of the shop do, one transaction each, on one connection of one thread. The same
/// seed does the same things.
final class ShopTransactions {

    // As many as rows.sql has made.
    private static final int CUSTOMERS = 50_000;
    private static final int PRODUCTS = 5_000;
    private static final int COUPONS = 500;

    private static final String PLACE_ORDER = """
            INSERT INTO shop.orders (ordered_on, customer_id, client, deliver, note)
            VALUES (current_date, ?, '192.0.2.7', tstzrange(now(), now() + interval '2 days'), ?)
            RETURNING id""";
    private static final String ADD_LINES = """
            INSERT INTO shop.order_lines (order_id, ordered_on, line, product_id, quantity, unit_price, rebate)
            SELECT ?, current_date, n, 1 + (? + n * 31) % 5000, 1 + n, 4.95 * n, n
            FROM generate_series(1, ?) n""";
    private static final String TAKE_STOCK = "UPDATE shop.products SET stock = stock - 1 WHERE id = ?";
    private static final String PAY = """
            INSERT INTO shop.payments VALUES
            (gen_random_uuid(), ?, current_date, ?::numeric / 100, localtimestamp(3), interval '2.5 seconds',
             '\\x0102', '08:00:2b:01:02:03', '{"by": "transfer"}')""";
    private static final String NOTE_EVENT = """
            INSERT INTO shop.events
            VALUES (clock_timestamp(), 'order', ?, gen_random_uuid(), jsonb_build_object('order', ?::bigint))""";
    private static final String CHANGE_CUSTOMER = """
            UPDATE shop.customers
            SET preferences = preferences || jsonb_build_object('seen', ?::int), tier = 'gold',
                tags = CASE WHEN cardinality(tags) < 5 THEN tags || ARRAY['changed'] ELSE '{}' END
            WHERE id = ?""";
    private static final String CHANGE_PRICE =
            "UPDATE shop.products SET price = price + 0.01, weight = NULLIF(weight, 0) WHERE id = ?";
    private static final String SHIP =
            "UPDATE shop.orders SET status = 'shipped', note = NULL WHERE id = ? AND ordered_on = current_date";
    private static final String CANCEL = "DELETE FROM shop.orders WHERE id = ? AND ordered_on = current_date";
    private static final String RENAME_COUPON =
            "UPDATE shop.coupons SET code = code || '+', used = used + 1 WHERE code LIKE ? AND length(code) < 20";
    private static final String FORGET_EVENTS = "DELETE FROM shop.events WHERE at = (SELECT min(at) FROM shop.events)";
    private static final String CORRECT_EVENT = """
            UPDATE shop.events SET payload = '{"corrected": true}'
            WHERE at = (SELECT max(at) FROM shop.events) AND kind = 'order'""";
    private static final String REPRICE =
            "UPDATE shop.products SET price = round(price * 1.001, 2), attributes = '{\"repriced\": 1}'"
                    + " WHERE id BETWEEN ? AND ? + 999";
    private static final String EMPTY_OFFERS = "TRUNCATE shop.offers";
    private static final String NEW_OFFERS = """
            INSERT INTO shop.offers
            SELECT g, ?::int / 100.0, daterange(current_date, current_date + g)
            FROM generate_series(1, 100) g""";

    private final Connection connection;
    private final Random random;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private final Deque<Long> openOrders = new ArrayDeque<>();
    private long rows;

    ShopTransactions(Connection connection, long seed) throws SQLException {
        this.connection = connection;
        this.random = new Random(seed);
        connection.setAutoCommit(false);
    }

    /// Runs one transaction.
    ///
    /// @return how many rows it has written, 0 if it was rolled back
    long next() throws SQLException {
        rows = 0;
        int dice = random.nextInt(1000);
        if (dice < 450) {
            placeOrder();
        } else if (dice < 650) {
            write(CHANGE_CUSTOMER, random.nextInt(1_000_000), 1 + random.nextInt(CUSTOMERS));
        } else if (dice < 800) {
            write(CHANGE_PRICE, 1 + random.nextInt(PRODUCTS));
        } else if (dice < 900) {
            endOrder(SHIP);
        } else if (dice < 960) {
            endOrder(CANCEL);
        } else {
            seldom(dice);
        }
        if (dice % 50 == 0) {
            connection.rollback();
            return 0;
        }
        connection.commit();
        return rows;
    }

    private void seldom(int dice) throws SQLException {
        if (dice < 980) {
            write(RENAME_COUPON, "COUPON-" + (1 + random.nextInt(COUPONS)) + "%");
        } else if (dice < 990) {
            write(CORRECT_EVENT);
        } else if (dice < 996) {
            write(FORGET_EVENTS);
        } else if (dice < 998) {
            int first = 1 + 1000 * random.nextInt(PRODUCTS / 1000);
            write(REPRICE, first, first);
        } else {
            write(EMPTY_OFFERS);
            write(NEW_OFFERS, random.nextInt(10_000));
        }
    }

    private void placeOrder() throws SQLException {
        int customer = 1 + random.nextInt(CUSTOMERS);
        PreparedStatement order = prepared(PLACE_ORDER);
        order.setInt(1, customer);
        order.setString(2, random.nextInt(10) == 0 ? "call me, \"please\"" : null);
        long id;
        try (ResultSet row = order.executeQuery()) {
            row.next();
            id = row.getLong(1);
        }
        rows++;
        int product = 1 + random.nextInt(PRODUCTS);
        write(ADD_LINES, id, product, 1 + random.nextInt(5));
        write(TAKE_STOCK, product);
        write(PAY, id, random.nextInt(100_000));
        write(NOTE_EVENT, customer, id);
        openOrders.addLast(id);
    }

    private void endOrder(String sql) throws SQLException {
        Long id = openOrders.pollFirst();
        if (id == null) {
            placeOrder();
        } else {
            write(sql, id);
        }
    }

    private void write(String sql, Object... parameters) throws SQLException {
        PreparedStatement statement = prepared(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        rows += statement.executeUpdate();
    }

    private PreparedStatement prepared(String sql) throws SQLException {
        PreparedStatement statement = prepared.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            prepared.put(sql, statement);
        }
        return statement;
    }
}
