mkdir -p queue/spool/in queue/spool/out queue/run
chmod +x queue/bin/queue
# Higher than any number that a process gets.
echo 4194399 > queue/run/queue.pid
printf 'op: upper\n\ntea and cups\n' > queue/spool/in/001.job
printf 'op: reverse\n\none\ntwo\nthree\n' > 'queue/spool/in/002 three lines.job'
printf 'op: explode\n\nnow\n' > queue/spool/in/003.job
printf 'op: count\n\na\nb\n' > queue/spool/in/004.job
