sqlite3 -batch stock.db <<'SQL'
CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, reorder_at INTEGER NOT NULL, discontinued INTEGER NOT NULL DEFAULT 0);
CREATE TABLE movements (
  id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id), kind TEXT NOT NULL CHECK (kind IN ('in', 'out', 'count')),
  quantity INTEGER NOT NULL, at TEXT NOT NULL, voided INTEGER NOT NULL DEFAULT 0);
INSERT INTO products (id, sku, reorder_at, discontinued) VALUES
  (1, 'TEA-GREEN', 20, 0), (2, 'TEA-BLACK', 20, 0), (3, 'POT', 5, 0), (4, 'CUP', 40, 0), (5, 'SIEVE', 3, 1), (6, 'TIN', 0, 0);
INSERT INTO movements (id, product_id, kind, quantity, at, voided) VALUES
  (1, 1, 'in', 30, '2026-01-02 08:00', 0), (2, 1, 'out', 12, '2026-01-03 10:00', 0),
  (3, 2, 'in', 50, '2026-01-02 08:00', 0), (4, 2, 'count', 9, '2026-01-05 18:00', 0), (5, 2, 'in', 4, '2026-01-06 09:00', 0),
  (6, 4, 'in', 60, '2026-01-02 08:00', 0), (7, 4, 'out', 30, '2026-01-04 08:00', 1), (8, 4, 'out', 5, '2026-01-04 08:05', 0),
  (9, 5, 'out', 1, '2026-01-04 08:00', 0);
SQL
