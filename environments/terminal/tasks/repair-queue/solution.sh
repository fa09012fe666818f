cat > queue/bin/queue <<'QUEUE'
#!/bin/bash
# queue start|stop|status
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
pidfile=run/queue.pid
worker=$PWD/lib/worker.sh

# The number in the file is the service's only if that process runs our worker.
running() {
  pid=$(cat "$pidfile" 2> /dev/null) && [ -n "$pid" ] &&
    tr '\0' '\n' < "/proc/$pid/cmdline" 2> /dev/null | grep -qxF -- "$worker"
}

case ${1:-} in
  start)
    if running; then echo running; exit 0; fi
    mkdir -p run
    nohup bash "$worker" > run/queue.log 2>&1 < /dev/null &
    echo $! > "$pidfile"
    # Until it can be told from what was forked.
    for i in $(seq 50); do running && break; sleep 0.1; done
    echo started
    ;;
  stop)
    if running; then
      kill "$pid"
      while running; do sleep 0.1; done
    fi
    rm -f "$pidfile"
    echo stopped
    ;;
  status)
    if running; then echo running; else echo stopped; exit 3; fi
    ;;
  *)
    echo 'usage: queue start|stop|status' >&2
    exit 1
    ;;
esac
QUEUE
cat > queue/lib/worker.sh <<'WORKER'
# Does jobs until it is told to stop.
. etc/queue.conf
stopping=no
trap 'stopping=yes' TERM
mkdir -p "$in" "$out" "$failed" run
LC_ALL=C
shopt -s nullglob dotglob

do_job() {
  local job=$1 name
  name=$(basename -- "$job" .job)
  case $(head -n 1 -- "$job") in
    'op: upper') tail -n +3 -- "$job" | tr a-z A-Z ;;
    'op: reverse') tail -n +3 -- "$job" | tac ;;
    'op: count') tail -n +3 -- "$job" | grep -c '' ;;
    *) mv -- "$job" "$failed/"; return ;;
  esac > run/out.part
  [ -e "$job" ] || return
  mv -- run/out.part "$out/$name.out"
  rm -- "$job"
}

while [ $stopping = no ]; do
  for job in "$in"/*.job; do
    [ $stopping = no ] || break
    do_job "$job"
  done
  [ $stopping = no ] && sleep "$every"
done
WORKER
printf '# Folders of jobs, and how often to look for new ones (seconds).\nin=spool/in\nout=spool/out\nfailed=spool/failed\nevery=0.2\n' > queue/etc/queue.conf
queue/bin/queue stop
