queue stop
echo "stop $code"
queue start
echo "start $code"
queue start
echo "start $code"
queue status
echo "status $code: $(cat "$at/said")"
job 1 upper first
settled
queue stop
echo "stop $code"
queue status
echo "status $code: $(cat "$at/said")"
job 2 upper second
sleep 1.5
show
queue start
settled
show
queue stop
