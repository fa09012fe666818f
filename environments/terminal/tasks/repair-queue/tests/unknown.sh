job 1 upper one
job '2 bad' explode two
job 3 uppercase three
job 4 reverse a b
: > "$at/spool/in/5.job"
job 6 count x
queue start
settled
show
queue status
cat "$at/said"
queue stop
