# What the script says is thrown away: what is printed here is read from the folder itself.
cp rotate.sh "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
mkdir t
backup() { for day in "${@:2}"; do echo "$1 $day" > "t/$1-$day.tar.gz"; done; }
left() { find t -type f | LC_ALL=C sort; }
rotate() { bash rotate.sh "$@" > said 2> complained < /dev/null; code=$?; }
backup web 2025-05-01 2025-05-02 2025-05-03 2025-05-04 2025-05-05 2025-03-01 2024-12-01 2024-11-01 2024-10-01
backup 'a b' 2025-05-01 2025-05-02 2025-05-03 2025-05-04
rotate --dry-run t
cat said
left | grep -c ''
echo "exit $code"
