answer() { grep -iE "^ *$1 *:" answer.txt | tail -n 1 | cut -d: -f2- | tr -d ' \r'; }
echo "$(answer failed_requests) requests of $(answer customers) customers"
