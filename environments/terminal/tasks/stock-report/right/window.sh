# Numbers the stock-takings of each product, and adds up what is in the last of these spans.
cat > report.sql <<'SQL'
-- What has to be ordered.
SELECT p.sku AS sku, ifnull(s.stock, 0) AS stock, p.reorder_at - ifnull(s.stock, 0) AS missing
FROM products AS p LEFT JOIN (
  SELECT product_id, sum(CASE kind WHEN 'out' THEN -quantity ELSE quantity END) AS stock
  FROM (SELECT *, max(span) OVER (PARTITION BY product_id) AS last FROM (
    SELECT *, sum(kind = 'count') OVER (PARTITION BY product_id ORDER BY at, id ROWS UNBOUNDED PRECEDING) AS span
    FROM movements WHERE NOT voided))
  WHERE span = last GROUP BY product_id) AS s ON s.product_id = p.id
WHERE NOT p.discontinued AND ifnull(s.stock, 0) < p.reorder_at
ORDER BY 3 DESC, 1
SQL
sqlite3 -csv stock.db < report.sql
