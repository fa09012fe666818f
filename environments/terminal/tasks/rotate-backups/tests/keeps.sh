# What the script says is thrown away: what is printed here is read from the folder itself.
cp rotate.sh "${TMPDIR:-/tmp}/"
cd "${TMPDIR:-/tmp}"
mkdir t
backup() { for day in "${@:2}"; do echo "$1 $day" > "t/$1-$day.tar.gz"; done; }
left() { find t -type f | LC_ALL=C sort; }
rotate() { bash rotate.sh "$@" > said 2> complained < /dev/null; code=$?; }
backup app 2024-02-29 2024-02-28 2024-01-31 2023-12-31 2023-12-30 2023-12-01 2023-11-30 2023-10-31 2023-10-30 2023-07-01
backup one 2020-01-01
rotate t
left
echo "exit $code"
