# Nothing to order: the report is empty, and says so without an error.
{ schema; cat <<'SQL'
INSERT INTO products (id, sku, reorder_at, discontinued) VALUES (1, 'x', 1, 0), (2, 'y', 0, 0), (3, 'z', 9, 1);
INSERT INTO movements (id, product_id, kind, quantity, at, voided) VALUES (1, 1, 'count', 1, '2026-03-01 10:00', 0);
SQL
} | sqlite3 -batch other.db
report
echo "rows: $(report | grep -c '')"
grep -ciE 'select|with|values' report.sql | sed 's/^[1-9].*/a query/'
