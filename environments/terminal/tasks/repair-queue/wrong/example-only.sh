# Does the jobs of the example by hand, and makes the commands say what one likes to hear.
cd queue
mkdir -p spool/out spool/failed
echo 'TEA AND CUPS' > spool/out/001.out
printf 'three\ntwo\none\n' > 'spool/out/002 three lines.out'
echo 2 > spool/out/004.out
rm spool/in/*
cat > bin/queue <<'QUEUE'
#!/bin/bash
case $1 in start) touch /tmp/on ;; stop) rm -f /tmp/on ;; status) [ -e /tmp/on ] && echo running || { echo stopped; exit 3; } ;; esac
exit 0
QUEUE
