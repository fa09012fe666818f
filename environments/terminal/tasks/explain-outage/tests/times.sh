# Case and spaces of an answer do not matter.
answer() { grep -iE "^ *$1 *:" answer.txt | tail -n 1 | cut -d: -f2- | tr -d ' \r'; }
echo "first error $(answer first_error)"
