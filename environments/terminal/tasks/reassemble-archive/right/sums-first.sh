# Unpacks what is compressed, makes a table of sums, and looks each piece up.
mkdir all
cp parts/*.bin all/
for part in all/*.bin; do gzip -dc "$part" > "$part.plain" 2> /dev/null || rm -f "$part.plain"; done
sha256sum all/* > sums
for sum in $(cut -d' ' -f3 parts/MANIFEST); do cat "$(grep "^$sum" sums | head -n 1 | sed 's/^[^ ]* *//')"; done > report.tar.gz
mkdir report && cd report && gzip -dc ../report.tar.gz | tar -xf -
