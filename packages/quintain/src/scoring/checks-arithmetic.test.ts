import { describe, expect, test } from 'vitest'
import { arithmeticIn } from './checks-arithmetic.ts'

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are bash's.
describe('a test script', () => {
  test.each<[text: string, what: string]>([
    ['[[ $(graded bash /box/add.sh 20 22) -eq 42 ]]; report adds $?', '[[ … -eq … ]]'],
    ['if [[ -n $n && $n -ge 3 ]]; then', '[[ … -eq … ]]'],
    ['[[ -n $n &&\n $n -lt 3 ]]', '[[ … -eq … ]]'],
    ['[[ -n $n && \\\n $n -lt 3 ]]', '[[ … -eq … ]]'],
    ['[[ $s =~ ^[[:space:]]*$ && $n -ne 3 ]]', '[[ … -eq … ]]'],
    ['n=$(graded x)\n(( n == 42 )) || echo no', '(('],
    ['((n==42))', '(('],
    ['true &&((n))', '(('],
    ['for ((i = 0; i < n; i++)); do', '(('],
    ['check x [ "$((n + 0))" = 42 ]', '$(('],
    ['echo $[n]', '$['],
    ['let n+=1', 'let'],
    ['if let "n == 42"; then', 'let'],
    ['check x let "n == 42"', 'let'],
    ['true; let n', 'let'],
    ['declare -i n', 'declare -i'],
    ['local -r -i n=$(graded x)', 'declare -i'],
    ['typeset -ri n', 'declare -i'],
    ['[[ -v $n ]]', '-v'],
    ['[ -v "$n" ]', '-v'],
    ['test ! -v "$n"', '-v'],
    ['echo ${!n}', 'an indirect name'],
    ['echo "${text:$n:1}"', 'a part of a text'],
    ['echo "${text:0:n}"', 'a part of a text'],
    ['echo "${all[$n]}"', 'a subscript'],
    ['echo "${all[n]}"', 'a subscript'],
    ['all[$n]=1', 'a subscript'],
    ['all[n]+=1', 'a subscript'],
  ])('is not run with arithmetic in it: %s', (text, what) => {
    expect(arithmeticIn(text)?.what).toBe(what)
  })

  test.each([
    'check adds [ "$(graded bash /box/add.sh 20 22)" = 42 ]',
    'check adds [ "$n" -eq 42 ]',
    'check adds test "$n" -ge 42',
    '[[ $n == 42 && -f /box/a ]]; report adds $?',
    '[[ $n =~ ^[0-9]+$ ]]\n[ "$n" -gt 3 ]',
    '( (graded x) | sort )',
    '$( (ls) )',
    '# (( n == 42 ))',
    "echo 'let me'; grep -v x; letter=1",
    'echo "${n:-42}" "${all[@]}" "${#all[@]}" "${text:0:3}" "${all[0]}" "${text#a}" "${!all[@]}"',
    'declare -A seen; declare -r n=1; export -n x',
    'grep "^a[$chars]" /box/f',
  ])('may compare text: %s', (text) => {
    expect(arithmeticIn(text)).toBeUndefined()
  })

  test('is told the line', () => {
    expect(arithmeticIn('# ((\n\ntrue \\\n  && false\n(( n ))\n')).toEqual({ what: '((', line: 5 })
    expect(arithmeticIn('true\nlet n')).toEqual({ what: 'let', line: 2 })
  })
})
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are bash's.
