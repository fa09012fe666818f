# On a copy: what a check changes, the next one does not see.
cp shop.db "${TMPDIR:-/tmp}/copy.db"
db() { sqlite3 -batch -init /dev/null -safe "${TMPDIR:-/tmp}/copy.db" "PRAGMA foreign_keys = ON;" "$@"; }
# The tables with the columns that were asked for, and nothing else but indexes.
db "SELECT m.type, m.name, c.name, c.type, c.\"notnull\" OR c.pk > 0 FROM sqlite_schema m JOIN pragma_table_info(m.name) c
  WHERE m.type <> 'index' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.name"
db "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
db "PRAGMA integrity_check"
db "SELECT count(*) FROM pragma_foreign_key_check"
