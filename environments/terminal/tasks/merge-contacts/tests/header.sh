# The header, quoted or not, and how many lines there are.
head -n 1 contacts.csv | tr -d '\r"'
grep -c "" contacts.csv
