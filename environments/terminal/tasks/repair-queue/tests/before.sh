# A copy in another place, with jobs of its own. What the service says is thrown away or kept in a file.
at="${TMPDIR:-/tmp}/moved here"
cp -r queue "$at"
rm -rf "$at/spool" "$at/run"
mkdir -p "$at/spool/in"
cd /
queue() { "$at/bin/queue" "$@" > "$at/said" 2> /dev/null < /dev/null; code=$?; }
job() { printf "%s\n" "op: $2" "" "${@:3}" > "$at/spool/in/.new"; mv "$at/spool/in/.new" "$at/spool/in/$1.job"; }
# Until no job is left, or none has been taken for 2.5 s (half a second where the service says that it does not run).
settled() {
  local left=0 last=0 idle=0
  while :; do
    left=$(find "$at/spool/in" -name "*.job" | grep -c "")
    [ "$left" = 0 ] && break
    if [ "$left" = "$last" ]; then idle=$((idle + 1)); else idle=0; fi
    last=$left
    [ $idle -ge 25 ] && break
    [ $idle -ge 5 ] && ! "$at/bin/queue" status > /dev/null 2>&1 && break
    sleep 0.1
  done
}
show() { cd "$at/spool"; find out failed -type f | LC_ALL=C sort | while IFS= read -r f; do echo "$f"; cat "$f"; done; cd /; }
