find inbox -type f | LC_ALL=C sort > .photos
while IFS= read -r path; do
  name=${path##*/}
  ending=$(printf '%s' "${name##*.}" | tr 'A-Z' 'a-z')
  case $ending in jpg|jpeg|png) ;; *) continue ;; esac
  stem=${name%.*}
  ymd=$(printf '%s\n' "$stem" | grep -oE '[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}\.[0-9]{2}\.[0-9]{4}' | head -n 1)
  case $ymd in
    '') folder=undated ;;
    ????-??-??) folder=${ymd%%-*}/$(printf '%s' "$ymd" | cut -c6-7) ;;
    ??.??.????) folder=${ymd##*.}/$(printf '%s' "$ymd" | cut -c4-5) ;;
    *) folder=$(printf '%s' "$ymd" | cut -c1-4)/$(printf '%s' "$ymd" | cut -c5-6) ;;
  esac
  mkdir -p "album/$folder"
  sum=$(md5sum < "$path")
  n=1
  target="album/$folder/$stem.$ending"
  kept=no
  while [ -e "$target" ]; do
    if [ "$(md5sum < "$target")" = "$sum" ]; then kept=yes; break; fi
    n=$((n + 1))
    target="album/$folder/$stem-$n.$ending"
  done
  if [ "$kept" = yes ]; then rm -- "$path"; else mv -- "$path" "$target"; fi
done < .photos
rm .photos
