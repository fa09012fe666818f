# Requests that met the cause, each with its last answer.
grep 'connection pool exhausted' logs/app.log | grep -oE 'req=r[0-9a-f]+' | LC_ALL=C sort -u > .ids
grep ' /checkout ' logs/gateway.log | grep -F -f .ids > .answers
awk '{ last[$6] = $5 } END { for (id in last) if (last[id] >= "status=500") print id }' .answers | LC_ALL=C sort > .failed
grep ' started ' logs/app.log | grep -F -f .failed | grep -oE 'customer=c[0-9]+' | LC_ALL=C sort -u > .customers
{
  echo "first_error: $(grep 'status=5' .answers | head -n 1 | cut -c12-19)"
  echo "failed_requests: $(grep -c '' .failed)"
  echo "customers: $(grep -c '' .customers)"
  echo 'culprit: CHG-4807'
  echo 'fixed_by: CHG-4815'
} > answer.txt
rm .ids .answers .failed .customers
