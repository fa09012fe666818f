# The pid file removed, the configuration mended, names quoted; not what happens when it is stopped or gets a bad job.
cd queue
rm -f run/queue.pid
printf 'in=spool/in\nout=spool/out\nfailed=spool/failed\nevery=0.2\n' > etc/queue.conf
sed -i 's|echo \$\$ > \$pidfile|echo $! > $pidfile|' bin/queue
sed -i 's|for job in \$(ls .*); do|for job in "$in"/*.job; do [ -e "$job" ] \|\| continue|; s|do_job \$job|do_job "$job"|; s|\$(basename \$job .job)|$(basename "$job" .job)|' lib/worker.sh
sed -i 's|head -n 1 \$job|head -n 1 "$job"|; s|+3 \$job|+3 "$job"|; s|\$out/\$name.out|"$out/$name.out"|; s|mv \$job \$failed|mv "$job" "$failed"|; s|rm \$job|rm "$job"|' lib/worker.sh
