# A database of its own, with other products and movements than the example.
cp report.sql "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
schema() { cat <<'SQL'
CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, reorder_at INTEGER NOT NULL, discontinued INTEGER NOT NULL DEFAULT 0);
CREATE TABLE movements (
  id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id), kind TEXT NOT NULL CHECK (kind IN ('in', 'out', 'count')),
  quantity INTEGER NOT NULL, at TEXT NOT NULL, voided INTEGER NOT NULL DEFAULT 0);
SQL
}
# No commands of the shell in it, no start-up file, and a database that cannot be written.
report() { sqlite3 -batch -init /dev/null -safe -readonly -csv -noheader other.db < report.sql 2>&1 | tr -d '\r"'; }
{ schema; cat <<'SQL'
INSERT INTO products (id, sku, reorder_at, discontinued) VALUES
  (10, 'b', 10, 0), (11, 'a', 10, 0), (12, 'no movements', 7, 0), (13, 'gone', 100, 1), (14, 'exactly', 5, 0), (15, 'below nothing', 1, 0),
  (16, 'c', 10, 0), (17, 'never', 0, 0), (18, 'counted twice', 50, 0), (19, 'void count', 50, 0), (20, 'late entry', 30, 0), (21, 'same time', 9, 0);
INSERT INTO movements (id, product_id, kind, quantity, at, voided) VALUES
  (1, 10, 'in', 4, '2026-03-01 10:00', 0), (2, 11, 'in', 4, '2026-03-01 10:00', 0), (3, 16, 'in', 4, '2026-03-01 10:00', 0),
  (4, 14, 'in', 9, '2026-03-01 10:00', 0), (5, 14, 'out', 4, '2026-03-01 11:00', 0),
  (6, 15, 'out', 8, '2026-03-02 10:00', 0), (7, 15, 'in', 1, '2026-03-01 10:00', 1),
  (8, 18, 'count', 90, '2026-03-01 10:00', 0), (9, 18, 'in', 5, '2026-03-01 11:00', 0), (10, 18, 'count', 20, '2026-03-02 10:00', 0),
  (11, 18, 'out', 3, '2026-03-02 10:01', 0), (12, 18, 'out', 50, '2026-03-02 09:59', 0),
  (13, 19, 'in', 30, '2026-03-01 10:00', 0), (14, 19, 'count', 60, '2026-03-02 10:00', 1), (15, 19, 'out', 1, '2026-03-03 10:00', 0),
  (16, 20, 'count', 10, '2026-03-05 10:00', 0), (17, 20, 'in', 100, '2026-03-04 10:00', 0), (18, 20, 'in', 2, '2026-03-06 10:00', 0),
  (20, 21, 'count', 5, '2026-03-05 10:00', 0), (21, 21, 'in', 2, '2026-03-05 10:00', 0), (19, 21, 'out', 3, '2026-03-05 10:00', 0),
  (22, 13, 'out', 3, '2026-03-05 10:00', 0);
SQL
} | sqlite3 -batch other.db
report
