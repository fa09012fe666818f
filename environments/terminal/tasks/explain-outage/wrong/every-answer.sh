# Counts every answer of 5xx, retries and other causes too, and blames the deploy that stands nearest.
printf 'first_error: %s\nfailed_requests: %d\ncustomers: %d\nculprit: CHG-4809\nfixed_by: CHG-4811\n' \
  "$(grep -m 1 ' /checkout status=5' logs/gateway.log | cut -c12-19)" \
  "$(grep -c ' /checkout status=5' logs/gateway.log)" \
  "$(grep -oE 'customer=c[0-9]+' logs/app.log | sort -u | grep -c '')" > answer.txt
