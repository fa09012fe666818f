# What the script says is thrown away: what is printed here is read from the folder itself.
cp rotate.sh "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
mkdir t
backup() { for day in "${@:2}"; do echo "$1 $day" > "t/$1-$day.tar.gz"; done; }
left() { find t -type f | LC_ALL=C sort; }
rotate() { bash rotate.sh "$@" > said 2> complained < /dev/null; code=$?; }
# Names with dashes and spaces, one of which is the beginning of another.
backup db 2025-05-01 2025-05-02 2025-05-03 2025-05-04 2025-04-30 2025-04-29
backup db-replica 2025-05-01 2025-05-02 2025-05-03 2025-05-04
backup 'my site -x' 2025-01-01 2025-01-02 2025-01-03 2025-01-04 2025-01-05
backup -f 2025-01-01 2025-01-02 2025-01-03 2025-01-04
rotate t
left
echo "exit $code"
