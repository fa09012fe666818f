# Repaired but for a pid file whose number has become another program's, which it takes for itself and stops.
cd queue
printf 'in=spool/in\nout=spool/out\nfailed=spool/failed\nevery=0.2\n' > etc/queue.conf
rm -f run/queue.pid
cat > bin/queue <<'QUEUE'
#!/bin/bash
cd "$(dirname "$0")/.."
runs() { kill -0 "$(cat run/queue.pid 2> /dev/null)" 2> /dev/null; }
case $1 in
  start) runs || { mkdir -p run; bash lib/worker.sh > run/log 2>&1 < /dev/null & echo $! > run/queue.pid; } ;;
  stop) if runs; then kill "$(cat run/queue.pid)"; while runs; do sleep 0.1; done; fi; rm -f run/queue.pid ;;
  status) if runs; then echo running; else echo stopped; exit 3; fi ;;
esac
exit 0
QUEUE
sed -i 's|^exit 0$||; s|exit 3; fi ;;|exit 3; fi; exit 0 ;;|' bin/queue
cat > lib/worker.sh <<'WORKER'
. etc/queue.conf
mkdir -p $in $out $failed
go=1; trap 'go=' TERM
while [ $go ]; do
  for job in "$in"/*.job; do
    [ -f "$job" ] && [ $go ] || continue
    name=$(basename -- "$job" .job)
    case $(head -n 1 -- "$job") in
      'op: upper') tail -n +3 -- "$job" | tr a-z A-Z > "$out/$name.out" ;;
      'op: reverse') tail -n +3 -- "$job" | tac > "$out/$name.out" ;;
      'op: count') tail -n +3 -- "$job" | wc -l > "$out/$name.out" ;;
      *) mv -- "$job" $failed; continue ;;
    esac
    rm -- "$job"
  done
  [ $go ] && sleep $every
done
WORKER
