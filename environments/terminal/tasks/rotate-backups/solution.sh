cat > rotate.sh <<'ROTATE'
dry=no
if [ "${1:-}" = --dry-run ]; then dry=yes; shift; fi
folder=${1:-}
if [ -z "$folder" ] || [ ! -d "$folder" ]; then
  echo 'usage: rotate.sh [--dry-run] FOLDER' >&2
  exit 2
fi
doomed() {
  for path in "$folder"/* "$folder"/.*; do
    [ -f "$path" ] || continue
    name=${path##*/}
    if printf '%s\n' "$name" | grep -qE '^.+-[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\.tar\.gz$'; then
      stem=${name%-????-??-??.tar.gz}
      date=${name#"$stem"-}
      printf '%s\t%s\n' "$stem" "${date%.tar.gz}"
    fi
  done | LC_ALL=C sort -t "$(printf '\t')" -k1,1 -k2,2r | awk -F '\t' '
    $1 != name { name = $1; kept = 0; months = 0; month = "" }
    {
      keep = 0
      if (++kept <= 3) keep = 1
      if (substr($2, 1, 7) != month) { month = substr($2, 1, 7); if (++months <= 4) keep = 1 }
      if (!keep) print $1 "-" $2 ".tar.gz"
    }' | LC_ALL=C sort
}
doomed | while IFS= read -r name; do
  if [ "$dry" = yes ]; then printf '%s\n' "$name"; else rm -- "$folder/$name"; fi
done
exit 0
ROTATE
