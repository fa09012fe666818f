# Says who runs by a lock that the kernel lets go of, and stops by a file.
cd queue
printf 'in=spool/in\nout=spool/out\nfailed=spool/failed\nevery=1\n' > etc/queue.conf
cat > bin/queue <<'QUEUE'
#!/bin/bash
cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && mkdir -p run || exit 1
runs() { ! flock -n run/lock true; }
case "$1" in
  start)
    runs && exit 0
    rm -f run/stop
    (flock 9; exec bash lib/worker.sh) 9> run/lock > run/log 2>&1 < /dev/null &
    disown
    until runs; do sleep 0.05; done ;;
  stop)
    touch run/stop
    flock run/lock true
    rm -f run/stop ;;
  status) if runs; then echo running; else echo stopped; exit 3; fi ;;
  *) exit 1 ;;
esac
QUEUE
cat > lib/worker.sh <<'WORKER'
source etc/queue.conf
mkdir -p "$in" "$out" "$failed"
until [ -e run/stop ]; do
  find "$in" -maxdepth 1 -type f -name '*.job' -print | sort > run/list
  while IFS= read -r job && [ ! -e run/stop ]; do
    name=${job##*/} name=${name%.job}
    read -r op < "$job"
    case $op in
      'op: upper') sed 1,2d "$job" | tr '[:lower:]' '[:upper:]' > "run/part" ;;
      'op: reverse') sed 1,2d "$job" | tac > "run/part" ;;
      'op: count') sed 1,2d "$job" | wc -l > "run/part" ;;
      *) mv "$job" "$failed"; continue ;;
    esac
    mv run/part "$out/$name.out" && rm "$job"
  done < run/list
  for i in 1 2 3 4 5; do [ -e run/stop ] || sleep 0.2; done
done
WORKER
cd .. && queue/bin/queue start && sleep 1 && queue/bin/queue stop
