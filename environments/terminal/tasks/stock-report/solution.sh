cat > report.sql <<'SQL'
WITH
  happened AS (SELECT * FROM movements WHERE voided = 0),
  counted AS (
    SELECT product_id, at, id, quantity, row_number() OVER (PARTITION BY product_id ORDER BY at DESC, id DESC) AS place
    FROM happened WHERE kind = 'count'),
  stock AS (
    SELECT p.id, p.sku, p.reorder_at, coalesce(c.quantity, 0) + coalesce((
      SELECT sum(CASE m.kind WHEN 'in' THEN m.quantity ELSE -m.quantity END) FROM happened m
      WHERE m.product_id = p.id AND m.kind <> 'count' AND (c.id IS NULL OR (m.at, m.id) > (c.at, c.id))), 0) AS stock
    FROM products p LEFT JOIN counted c ON c.product_id = p.id AND c.place = 1
    WHERE p.discontinued = 0)
SELECT sku, stock, reorder_at - stock AS missing FROM stock WHERE stock < reorder_at ORDER BY missing DESC, sku;
SQL
