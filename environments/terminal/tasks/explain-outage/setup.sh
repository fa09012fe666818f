mkdir -p logs
cat > logs/changes.log <<'LOG'
2026-03-04T13:12:40+02:00 CHG-4802 deploy search 4.1.1 -> 4.1.2 by mira
2026-03-04T13:41:05+02:00 CHG-4805 config mail smtp.retries 3 -> 5 by config-bot
2026-03-04T14:02:10+02:00 CHG-4807 config cart pool.max 40 -> 4 by config-bot
2026-03-04T14:05:55+02:00 CHG-4809 deploy pay 7.0.3 -> 7.0.4 by jonas
2026-03-04T14:20:30+02:00 CHG-4810 database vacuum on orders by dba
2026-03-04T14:31:00+02:00 CHG-4811 deploy pay 7.0.4 -> 7.0.3 by jonas
2026-03-04T14:33:20+02:00 CHG-4812 restart search by mira
2026-03-04T14:44:45+02:00 CHG-4815 config cart pool.max 4 -> 60 by lena
2026-03-04T14:52:00+02:00 CHG-4816 database vacuum on orders finished by dba
LOG
# A small generator of numbers, so that every box has the same logs.
awk '
function next_number(n) { seed = (seed * 1103 + 12345) % 1000003; return int(seed / 7) % n }
function stamp(s) { return sprintf("2026-03-04T%02d:%02d:%02d", int(s / 3600), int(s / 60) % 60, s % 60) }
function gateway(s, path, status, id) {
  printf "%sZ gateway %s %s status=%d req=%s\n", stamp(s), path == "/checkout" ? "POST" : "GET", path, status, id > "logs/gateway.log"
}
function app(s, level, service, text) { printf "%sZ %-5s %s %s\n", stamp(s), level, service, text > "logs/app.log" }
BEGIN {
  seed = 4711
  for (s = 11 * 3600; s < 13 * 3600; s += 3 + next_number(5)) {
    id = sprintf("r%05x", 4096 + s * 7 % 900001)
    customer = "c" (100 + next_number(140))
    kind = next_number(10)
    if (kind < 3) {
      gateway(s, "/search", (s > 40360 && s < 45200 && next_number(9) == 0) ? 500 : 200, id)
      app(s, "INFO", "search", "query req=" id " customer=" customer)
    } else if (kind < 6) {
      gateway(s, "/item/" (10 + next_number(80)), next_number(30) == 0 ? 404 : 200, id)
    } else {
      app(s, "INFO", "checkout", "started req=" id " customer=" customer)
      bad = (s >= 43330 + 90 && s < 45885 && next_number(10) < 4)
      other = (!bad && next_number(60) == 0 && (s < 43000 || s > 46000))
      if (bad) {
        app(s + 1, "ERROR", "cart", "connection pool exhausted (4 of 4 in use, " (3 + next_number(40)) " waiting) req=" id)
        gateway(s + 1, "/checkout", 503, id)
        if (next_number(3) == 0) {
          again = next_number(2)
          if (again) app(s + 2, "ERROR", "cart", "connection pool exhausted (4 of 4 in use, " (3 + next_number(40)) " waiting) req=" id)
          gateway(s + 2, "/checkout", again ? 503 : 200, id)
        }
      } else if (other) {
        app(s + 1, "ERROR", "pay", "card processor timed out after 1000 ms req=" id)
        gateway(s + 1, "/checkout", 504, id)
      } else {
        gateway(s + 1, "/checkout", 200, id)
      }
    }
    if (s % 97 == 0) app(s, "WARN", "orders", "slow query 812 ms SELECT * FROM orders WHERE placed > $1")
  }
}'
