# On a copy: what a check changes, the next one does not see.
cp shop.db "${TMPDIR:-/tmp}/copy.db"
db() { sqlite3 -batch -init /dev/null -safe "${TMPDIR:-/tmp}/copy.db" "PRAGMA foreign_keys = ON;" "$@"; }
# For each row that must be refused, whether it was, and that one like it is taken.
try() { if db "$2" > /dev/null 2>&1; then echo "$1: taken"; else echo "$1: refused"; fi; }
try 'address in capitals' "INSERT INTO customers (email, name) VALUES ('GRACE@EXAMPLE.ORG', 'X')"
try 'another address' "INSERT INTO customers (email, name) VALUES ('x@example.org', 'X')"
try 'nameless' "INSERT INTO customers (email) VALUES ('y@example.org')"
try 'order of nobody known' "INSERT INTO orders (id, customer_id, placed, total_cents) VALUES (100, 9999, '2026-02-01', 100)"
try 'order without a customer' "INSERT INTO orders (id, customer_id, placed, total_cents) VALUES (101, NULL, '2026-02-01', 100)"
try 'order without a day' "INSERT INTO orders (id, customer_id, placed, total_cents) VALUES (102, NULL, NULL, 100)"
try 'item of no order' "INSERT INTO order_items (order_id, sku, quantity) VALUES (777, 'TEA-1', 1)"
try 'item' "INSERT INTO order_items (order_id, sku, quantity) VALUES (101, 'TEA-1', 1)"
try 'the same item' "INSERT INTO order_items (order_id, sku, quantity) VALUES (101, 'TEA-1', 2)"
try 'no quantity' "INSERT INTO order_items (order_id, sku, quantity) VALUES (101, 'TEA-7', 0)"
try 'an order' "DELETE FROM orders WHERE id = 5"
db "SELECT count(*) FROM order_items WHERE order_id = 5"
