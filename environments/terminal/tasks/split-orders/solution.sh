sqlite3 -batch shop.db <<'SQL'
PRAGMA foreign_keys = OFF;
BEGIN;
DROP VIEW recent;
DROP TABLE tmp_import;
ALTER TABLE orders RENAME TO old;
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), placed TEXT NOT NULL, total_cents INTEGER NOT NULL);
CREATE TABLE order_items (
  order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE, sku TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity >= 1), PRIMARY KEY (order_id, sku));
INSERT INTO customers (email, name)
  SELECT mail, name FROM (
    SELECT lower(trim(email)) AS mail, name, row_number() OVER (PARTITION BY lower(trim(email)) ORDER BY placed DESC) AS place
    FROM old WHERE trim(coalesce(email, '')) <> '')
  WHERE place = 1;
INSERT INTO orders
  SELECT id, (SELECT c.id FROM customers c WHERE c.email = lower(trim(old.email))), placed, CAST(round(total * 100) AS INTEGER)
  FROM old;
INSERT INTO order_items
  WITH RECURSIVE part (id, item, rest) AS (
    SELECT id, '', items || ';' FROM old
    UNION ALL
    SELECT id, substr(rest, 1, instr(rest, ';') - 1), substr(rest, instr(rest, ';') + 1) FROM part WHERE rest <> '')
  SELECT id, substr(item, 1, instr(item, ':') - 1), sum(CAST(substr(item, instr(item, ':') + 1) AS INTEGER))
  FROM part WHERE item <> '' GROUP BY 1, 2;
DROP TABLE old;
COMMIT;
SQL
