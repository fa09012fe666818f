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
