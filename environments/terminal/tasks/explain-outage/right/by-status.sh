# Goes by the last status of each request between the two changes, and joins.
grep ' POST /checkout ' logs/gateway.log | sed -E 's/^.{11}(.{8})Z .*status=([0-9]+) (req=.*)$/\3 \1 \2/' | LC_ALL=C sort -s -k1,1 > all
awk '{ last[$1] = $3; time[$1] = $2 } END { for (id in last) if (last[id] >= 500 && time[id] >= "12:02:10" && time[id] <= "12:44:50") print id }' all | LC_ALL=C sort > ids
grep -F -f ids logs/app.log | grep -oE 'customer=c[0-9]+' | sort | uniq > who
first=$(awk '$3 >= 500 && $2 > "12:02:10" { print $2 }' all | sort | head -n 1)
printf 'Fixed_by: chg-4815\nculprit: CHG-4807\ncustomers: %d\nfailed_requests: %d\nfirst_error:  %s\n' "$(grep -c '' who)" "$(grep -c '' ids)" "$first" > answer.txt
