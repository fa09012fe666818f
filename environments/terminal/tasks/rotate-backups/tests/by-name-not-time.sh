# What the script says is thrown away: what is printed here is read from the folder itself.
cp rotate.sh "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
mkdir t
backup() { for day in "${@:2}"; do echo "$1 $day" > "t/$1-$day.tar.gz"; done; }
left() { find t -type f | LC_ALL=C sort; }
rotate() { bash rotate.sh "$@" > said 2> complained < /dev/null; code=$?; }
backup db 2025-05-04 2025-05-03 2025-05-02 2025-05-01
touch -d '2020-01-01 00:00:00' t/db-2025-05-04.tar.gz
touch -d '2026-01-01 00:00:00' t/db-2025-05-01.tar.gz
rotate t
left
echo "exit $code"
