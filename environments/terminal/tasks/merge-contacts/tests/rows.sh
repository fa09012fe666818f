# The fields of each row, however they were quoted.
tail -n +2 contacts.csv | tr -d '\r' | awk '{
  line = $0; out = ""; quoted = 0
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") { out = out "\""; i++ }
    else if (c == "\"") quoted = !quoted
    else if (c == "," && !quoted) out = out " | "
    else out = out c
  }
  print out
}'
