# Takes everything in the folder for backups of one name, and breaks names at spaces.
cat > rotate.sh <<'ROTATE'
dry=no
if [ "$1" = --dry-run ]; then dry=yes; shift; fi
[ -d "$1" ] || exit 2
cd "$1"
n=0; months=0; last=
for f in $(ls *-????-??-??.tar.gz | sort -r); do
  n=$((n + 1)); keep=no
  [ $n -le 3 ] && keep=yes
  date=${f%.tar.gz}; month=${date: -10:7}
  if [ "$month" != "$last" ]; then last=$month; months=$((months + 1)); [ $months -le 4 ] && keep=yes; fi
  if [ $keep = no ]; then if [ $dry = yes ]; then echo "$f"; else rm -f -- "$f"; fi; fi
done
exit 0
ROTATE
