answer() { grep -iE "^ *$1 *:" answer.txt | tail -n 1 | cut -d: -f2- | tr -d ' \r' | tr 'a-z' 'A-Z'; }
echo "caused by $(answer culprit), fixed by $(answer fixed_by)"
