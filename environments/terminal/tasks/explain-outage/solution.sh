grep 'connection pool exhausted' logs/app.log | grep -oE 'req=r[0-9a-f]+' | LC_ALL=C sort -u > .ids
grep ' /checkout ' logs/gateway.log | LC_ALL=C awk '
  BEGIN { while ((getline line < ".ids") > 0) hit[line] = 1 }
  { id = $6; if (!(id in hit)) next; status = $5; sub(/status=/, "", status); last[id] = status
    if (first == "" && status >= 500) first = substr($1, 12, 8) }
  END { print first > ".first"; for (id in last) if (last[id] >= 500) print id > ".failed" }'
LC_ALL=C sort .failed > .sorted
grep ' started ' logs/app.log | awk '
  BEGIN { while ((getline line < ".sorted") > 0) failed[line] = 1 }
  $5 in failed { print $6 }' | LC_ALL=C sort -u > .customers
{
  echo "first_error: $(cat .first)"
  echo "failed_requests: $(grep -c '' .sorted)"
  echo "customers: $(grep -c '' .customers)"
  echo 'culprit: CHG-4807'
  echo 'fixed_by: CHG-4815'
} > answer.txt
rm .ids .first .failed .sorted .customers
