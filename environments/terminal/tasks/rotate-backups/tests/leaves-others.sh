# What the script says is thrown away: what is printed here is read from the folder itself.
cp rotate.sh "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
mkdir t
backup() { for day in "${@:2}"; do echo "$1 $day" > "t/$1-$day.tar.gz"; done; }
left() { find t -type f | LC_ALL=C sort; }
rotate() { bash rotate.sh "$@" > said 2> complained < /dev/null; code=$?; }
backup db 2025-05-01 2025-05-02 2025-05-03 2025-05-04
mkdir t/old t/db-2025-01-01.tar.gz
cp t/db-2025-05-01.tar.gz t/old/
echo x > t/db-2025-13-01.tar.gz
echo x > t/db-2025-00-10.tar.gz
echo x > t/db-2025-05-32.tar.gz
echo x > t/db-2025-05-00.tar.gz
echo x > t/db-2025-04-01.tar.gz.part
echo x > t/db-2025-4-1.tar.gz
echo x > t/-2025-04-01.tar.gz
echo x > t/notes
rotate t
left
echo "exit $code"
