# Types the rows into a new database and puts it in the place of the old one.
sqlite3 -batch new.db <<'SQL'
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL, name TEXT NOT NULL);
CREATE UNIQUE INDEX one_address ON customers (lower(email));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, placed TEXT NOT NULL, total_cents INTEGER NOT NULL,
  FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE order_items (order_id INTEGER NOT NULL, sku TEXT NOT NULL, quantity INTEGER NOT NULL CHECK (quantity > 0),
  UNIQUE (sku, order_id), FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE INDEX by_customer ON orders (customer_id);
INSERT INTO customers VALUES (10, 'ada@example.org', 'Ada Lovelace'), (20, 'linus@example.org', 'Linus'), (30, 'grace@example.org', 'Grace Hopper');
INSERT INTO orders VALUES (1, 10, '2025-11-03T10:00:00', 2350), (2, 10, '2026-01-12T08:30:00', 800), (5, 20, '2025-12-24T18:00:00', 11090),
  (6, NULL, '2025-12-27T12:00:00', 2994), (9, 30, '2026-01-02T00:00:00', 3430), (10, NULL, '2026-01-03T16:20:00', 10),
  (12, 10, '2025-12-31T23:59:59', 123405), (31, 20, '2025-12-01T09:00:00', 800);
INSERT INTO order_items VALUES (1, 'TEA-1', 2), (1, 'CUP-4', 1), (2, 'TEA-1', 1), (5, 'POT-2', 3), (5, 'TEA-1', 3), (6, 'CUP-4', 6),
  (9, 'POT-2', 1), (10, 'TEA-7', 10), (12, 'CUP-4', 12), (12, 'TEA-7', 1), (31, 'TEA-1', 1);
SQL
mv new.db shop.db
