cat > .merge.awk <<'AWK'
function parse(line, sep,   i, c, quoted, n) {
  n = 1; quoted = 0; split("", field); field[1] = ""
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") { field[n] = field[n] "\""; i++ }
    else if (c == "\"") quoted = !quoted
    else if (c == sep && !quoted) { n++; field[n] = "" }
    else field[n] = field[n] c
  }
  return n
}
function trim(s) { sub(/^ +/, "", s); sub(/ +$/, "", s); return s }
function plain(s,   plus) {
  plus = (s ~ /^ *\+/)
  gsub(/[^0-9]/, "", s)
  if (s == "") return ""
  if (plus) return "+" s
  if (s ~ /^00/) return "+" substr(s, 3)
  if (s ~ /^0/) return "+49" substr(s, 2)
  return "+" s
}
function take(mail, name, phone, day) {
  mail = tolower(trim(mail)); name = trim(name); phone = plain(phone)
  if (mail == "") return
  seen[mail] = 1
  if (name != "" && day > named[mail]) { named[mail] = day; names[mail] = name }
  if (phone != "" && day > phoned[mail]) { phoned[mail] = day; phones[mail] = phone }
}
function quote(s) { if (s ~ /[",]/) { gsub(/"/, "\"\"", s); return "\"" s "\"" } return s }
{ sub(/\r$/, "") }
FILENAME == "crm.csv" && $0 !~ /^email,/ { parse($0, ","); take(field[1], field[2], field[3], field[4]) }
FILENAME == "shop.csv" && $0 !~ /^changed;/ { parse($0, ";"); take(field[2], field[3] " " field[4], field[5], field[1]) }
END { for (mail in seen) print quote(mail) "," quote(names[mail]) "," quote(phones[mail]) }
AWK
echo email,name,phone > contacts.csv
awk "$(cat .merge.awk)" crm.csv shop.csv | LC_ALL=C sort >> contacts.csv
rm .merge.awk
