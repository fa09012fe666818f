sqlite3 -batch shop.db <<'SQL'
CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, email TEXT, placed TEXT, items TEXT, total TEXT);
CREATE VIEW recent AS SELECT * FROM orders WHERE placed > '2026-01-01';
CREATE TABLE tmp_import (line TEXT);
INSERT INTO tmp_import VALUES ('half a line');
INSERT INTO orders VALUES
  (1, 'A. Lovelace', 'ada@example.org', '2025-11-03T10:00:00', 'TEA-1:2;CUP-4:1', '23.50'),
  (2, 'Ada Lovelace', ' Ada@Example.org', '2026-01-12T08:30:00', 'TEA-1:1', '8.00'),
  (5, 'Linus', 'linus@example.org', '2025-12-24T18:00:00', 'POT-2:1;TEA-1:3;POT-2:2', '110.90'),
  (6, NULL, NULL, '2025-12-27T12:00:00', 'CUP-4:6', '29.94'),
  (9, 'Grace Hopper', 'GRACE@example.org', '2026-01-02T00:00:00', 'POT-2:1;', '34.30'),
  (10, 'Walk-in', '  ', '2026-01-03T16:20:00', 'TEA-7:10', '0.10'),
  (12, 'Ada King', 'ada@example.org', '2025-12-31T23:59:59', 'CUP-4:12;TEA-7:1', '1234.05'),
  (31, 'L. Torvalds', 'linus@example.org', '2025-12-01T09:00:00', 'TEA-1:1', '8.00');
SQL
