-- The shop's history: runs on the source only, the target gets it through pgapply.

SET search_path = shop;
SET synchronous_commit = off;
SET session_replication_role = replica;         -- the rows are right; checking the keys takes longer than writing

INSERT INTO customers (email, name, born, tier, tags, home, preferences, created_at)
SELECT format('customer%s@example.com', g),
       (ARRAY['Ada', 'Björn', 'Chloé', 'Đorđe', 'Εύα', 'Фёдор', '花子', 'O''Neil'])[1 + g % 8] || ' ' || g,
       CASE WHEN g % 10 > 0 THEN date '1950-01-01' + g % 20000 END,
       (ARRAY['guest', 'regular', 'gold'])[1 + g % 3]::tier,
       CASE WHEN g % 4 = 0 THEN ARRAY['news', 'tag ' || g % 7] ELSE '{}' END,
       ROW('Street ' || g % 900, lpad((g % 99999)::text, 5, '0'), 'City, "' || g % 40 || '"')::address,
       jsonb_build_object('lang', (ARRAY['de', 'en', 'fr'])[1 + g % 3], 'mails', g % 2 = 0, 'seen', g),
       timestamptz '2026-01-01' + g * interval '1 minute'
FROM generate_series(1, 50000) g;

INSERT INTO products (sku, title, description, price, weight, size, attributes, picture, stock)
SELECT 'SKU' || lpad(g::text, 8, '0'),
       'Product ' || g,
       CASE WHEN g % 5 = 0
            THEN (SELECT string_agg(md5(g::text || n), ' ') FROM generate_series(1, 150) n)
            ELSE 'A product.' END,
       (1 + g % 500) * 1.25,
       g / 7::real,
       ARRAY[g / 3::float8, g % 9, 1e-3],
       json_build_object('colour', (ARRAY['red', 'green', 'blue'])[1 + g % 3], 'parts', g % 12),
       CASE WHEN g % 3 = 0 THEN decode(md5(g::text), 'hex') END,
       1000
FROM generate_series(1, 5000) g;

INSERT INTO orders (ordered_on, customer_id, status, ordered_at, client, deliver, note)
SELECT d::date, 1 + g % 50000, (ARRAY['placed', 'paid', 'shipped', 'returned'])[1 + g % 4]::order_status,
       d, ('10.' || g % 200 || '.' || g % 250 || '.1')::inet,
       CASE WHEN g % 2 = 0 THEN tstzrange(d + interval '1 day', d + interval '2 days') END,
       CASE WHEN g % 20 = 0 THEN E'leave it\tat the door\\' END
FROM generate_series(1, 60000) g, LATERAL (SELECT timestamptz '2026-01-01' + g * interval '6 minutes') AS t (d);

INSERT INTO order_lines (order_id, ordered_on, line, product_id, quantity, unit_price, rebate)
SELECT o.id, o.ordered_on, n, 1 + (o.id * 7 + n) % 5000, 1 + n, 9.99 + n, o.id % 30
FROM orders o, generate_series(1, 1 + (o.id % 5)::int) n;

INSERT INTO payments (id, order_id, ordered_on, amount, paid_at, took, token, device, details)
SELECT md5('payment' || o.id)::uuid, o.id, o.ordered_on, 19.99 + o.id % 100, o.ordered_at::timestamp(3),
       (o.id % 90) * interval '1.5 seconds', decode(md5(o.id::text), 'hex'),
       ('08:00:2b:01:02:' || lpad(to_hex(o.id % 256), 2, '0'))::macaddr,
       jsonb_build_object('by', 'card', 'try', o.id % 3)
FROM orders o
WHERE o.status <> 'placed';

INSERT INTO coupons SELECT 'COUPON-' || g, g % 51, g FROM generate_series(1, 500) g;

INSERT INTO offers
SELECT g, 0.99 + g, daterange(date '2026-01-01' + g, NULL) FROM generate_series(1, 200) g;

INSERT INTO stores
SELECT g, point(g * 1.5, -g / 3.0), '08:30', '20:00+01', (g % 256)::bit(8),
       ('10.' || g || '.0.0/16')::cidr, g * 100.5::numeric::money,
       format('<store n="%s"><aisle/></store>', g)::xml
FROM generate_series(1, 50) g;

INSERT INTO events
SELECT timestamptz '2026-01-01' + g * interval '1 second', (ARRAY['view', 'search', 'cart'])[1 + g % 3],
       1 + g % 50000, md5('s' || g % 5000)::uuid, jsonb_build_object('n', g % 100)
FROM generate_series(1, 20000) g;

INSERT INTO heartbeat VALUES (1, 0);
