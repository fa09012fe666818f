# On a copy: what a check changes, the next one does not see.
cp shop.db "${TMPDIR:-/tmp}/copy.db"
db() { sqlite3 -batch -init /dev/null -safe "${TMPDIR:-/tmp}/copy.db" "PRAGMA foreign_keys = ON;" "$@"; }
db "SELECT o.id, coalesce(c.email, 'nobody'), placed, total_cents, typeof(total_cents) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id ORDER BY o.id"
db "SELECT count(*) FROM orders WHERE customer_id IS NULL"
