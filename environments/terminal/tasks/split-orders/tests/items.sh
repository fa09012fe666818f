# On a copy: what a check changes, the next one does not see.
cp shop.db "${TMPDIR:-/tmp}/copy.db"
db() { sqlite3 -batch -init /dev/null -safe "${TMPDIR:-/tmp}/copy.db" "PRAGMA foreign_keys = ON;" "$@"; }
db "SELECT order_id, sku, quantity, typeof(quantity) FROM order_items ORDER BY order_id, sku"
