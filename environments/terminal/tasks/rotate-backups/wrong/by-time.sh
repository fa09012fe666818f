# Keeps the newest seven files by their time, whatever they are called.
cat > rotate.sh <<'ROTATE'
dry=no
if [ "$1" = --dry-run ]; then dry=yes; shift; fi
[ -d "$1" ] || exit 2
cd "$1"
ls -t | grep 'tar.gz$' | tail -n +8 | sort | while read -r f; do [ $dry = yes ] && echo "$f" || rm -f "$f"; done
ROTATE
