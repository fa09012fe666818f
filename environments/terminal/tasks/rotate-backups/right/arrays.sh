# The same in bash alone, with arrays.
cat > rotate.sh <<'ROTATE'
#!/bin/bash
dry=
[[ ${1:-} == --dry-run ]] && { dry=1; shift; }
[[ -d ${1:-} ]] || { echo "no folder: ${1:-}" >&2; exit 2; }
shopt -s nullglob dotglob
LC_ALL=C
names=()
for path in "$1"/*.tar.gz; do
  [[ -f $path ]] || continue
  name=${path##*/}
  [[ $name =~ ^(.+)-[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\.tar\.gz$ ]] && names+=("$name")
done
doomed=()
for name in "${names[@]}"; do
  stem=${name%-????-??-??.tar.gz}
  date=${name: -17:10}
  newer=0 later=() best=1
  for other in "${names[@]}"; do
    [[ ${other%-????-??-??.tar.gz} == "$stem" && ${other: -17:10} > $date ]] || continue
    newer=$((newer + 1))
    month=${other: -17:7}
    if [[ $month == "${date:0:7}" ]]; then best=0
    elif [[ " ${later[*]} " != *" $month "* ]]; then later+=("$month"); fi
  done
  ((newer < 3)) && continue
  ((best && ${#later[@]} < 4)) && continue
  doomed+=("$name")
done
if ((${#doomed[@]} > 0)); then
  printf '%s\n' "${doomed[@]}" | sort | while IFS= read -r name; do
    if [[ $dry ]]; then echo "$name"; else rm -f -- "$1/$name"; fi
  done
fi
exit 0
ROTATE
chmod +x rotate.sh
bash rotate.sh --dry-run backups
