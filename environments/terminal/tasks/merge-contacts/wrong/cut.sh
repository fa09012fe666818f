# Splits at every comma and semicolon.
{ echo email,name,phone
  { tail -n +2 crm.csv | awk -F, -v OFS=, '$1 != "" { print tolower($1), $2, $3 }'
    tail -n +2 shop.csv | tr -d '\r' | awk -F';' -v OFS=, '$2 != "" { print tolower($2), $3 " " $4, $5 }'
  } | tr -d '" ()/-' | sort -u -t, -k1,1
} > contacts.csv
