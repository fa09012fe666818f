: > .whole
while read -r number length sum; do
  for part in parts/*.bin; do
    if [ "$(sha256sum < "$part" | cut -d' ' -f1)" = "$sum" ]; then cat "$part" >> .whole; break; fi
    if [ "$(gzip -dc "$part" 2> /dev/null | sha256sum | cut -d' ' -f1)" = "$sum" ]; then gzip -dc "$part" >> .whole; break; fi
  done
done < parts/MANIFEST
mkdir -p report
tar -xzf .whole -C report
rm .whole
