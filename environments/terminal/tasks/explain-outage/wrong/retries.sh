# Right but for requests whose second try went through.
grep -oE 'exhausted .*req=r[0-9a-f]+' logs/app.log | grep -oE 'req=.*' | sort -u > ids
grep -F -f ids logs/app.log | grep -oE 'customer=c[0-9]+' | sort -u > who
printf 'first_error: 12:03:46\nfailed_requests: %d\ncustomers: %d\nculprit: CHG-4807\nfixed_by: CHG-4815\n' \
  "$(grep -c '' ids)" "$(grep -c '' who)" > answer.txt
