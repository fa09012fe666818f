sleep 300 > /dev/null 2>&1 < /dev/null &
other=$!
mkdir -p "$at/run"
echo $other > "$at/run/queue.pid"
queue status
echo "status $code: $(cat "$at/said")"
queue stop
echo "stop $code"
echo $other > "$at/run/queue.pid"
job x upper done
queue start
settled
show
queue stop
kill -0 $other && echo 'the other program is alive'
kill $other
