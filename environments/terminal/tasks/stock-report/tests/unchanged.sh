# Run twice, with a database that could be written, which stays as it was.
{ schema; cat <<'SQL'
INSERT INTO products (id, sku, reorder_at, discontinued) VALUES (7, 'one', 3, 0), (8, 'two', 12, 0);
INSERT INTO movements (id, product_id, kind, quantity, at, voided) VALUES (1, 8, 'in', 5, '2026-03-01 10:00', 0);
SQL
} | sqlite3 -batch other.db
dump() { sqlite3 -batch -init /dev/null other.db .dump | md5sum; }
before=$(dump)
for i in 1 2; do sqlite3 -batch -init /dev/null -safe -csv other.db < report.sql 2>&1 | tr -d '\r"'; done
[ "$before" = "$(dump)" ] && echo unchanged
