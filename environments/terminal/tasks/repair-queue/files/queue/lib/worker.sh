# Does jobs until it is told to stop.
set -e
. etc/queue.conf
stopping=no
trap 'stopping=yes' TERM
mkdir -p $out $failed

do_job() {
  job=$1
  name=$(basename $job .job)
  op=$(head -n 1 $job | cut -d' ' -f2)
  case $op in
    upper) tail -n +3 $job | tr a-z A-Z > $out/$name.out ;;
    reverse) tail -n +3 $job | tac > $out/$name.out ;;
    count) tail -n +3 $job | wc -l > $out/$name.out ;;
    *) echo "unknown operation: $op"; mv $job $failed; return 1 ;;
  esac
  rm $job
}

while [ $stopping = no ]; do
  for job in $(ls $in/*.job 2> /dev/null); do
    do_job $job
  done
  sleep $every
done
