# Goes by the lengths, and takes the first file that fits.
: > whole
for part in parts/*.bin; do cat "$part" >> whole; done
mkdir -p report
tar -xzf whole -C report
