# Adds a stock-taking up with the rest, and leaves out products without movements.
cat > report.sql <<'SQL'
SELECT sku, sum(CASE kind WHEN 'out' THEN -quantity ELSE quantity END) AS stock,
  reorder_at - sum(CASE kind WHEN 'out' THEN -quantity ELSE quantity END) AS missing
FROM products p JOIN movements m ON m.product_id = p.id
WHERE voided = 0 AND discontinued = 0 GROUP BY p.id HAVING stock < reorder_at ORDER BY missing DESC, sku;
SQL
