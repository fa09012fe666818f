/*
 * Bash takes more for arithmetic than it seems, and arithmetic runs commands: the text `a[$(id)]` in a variable that is
 * compared by `[[ $n -eq 42 ]]` runs `id`, among the tests and as them (bash manual, "Shell Arithmetic"). So text that an
 * agent wrote must never come there, and tests are read for it before they run. They are read line by line and not as bash
 * reads them: what only looks like it is refused as well.
 */

const start = String.raw`(?:^|[;&|({!\x60]|\b(?:then|do|else|elif|if|while|until|time|builtin|command|check\s+\S+))\s*`
const subscript = String.raw`\[[^\]@*"'\n]*[A-Za-z_$][^\]\n]*\]`

const refused: readonly (readonly [name: string, shape: RegExp])[] = [
  ['$((', /\$\(\(/m],
  ['$[', /\$\[/m],
  ['((', /(?:^|[\s;&|({!])\(\(/m],
  ['let', new RegExp(`${start}let\\s`, 'm')],
  ['declare -i', /\b(?:declare|typeset|local|readonly|export)\s+(?:[-+]\w+\s+)*-\w*i/m],
  ['[[ … -eq … ]]', /\[\[\s(?:(?!\s\]\])[\s\S])*?\s-(?:eq|ne|lt|le|gt|ge|v)\s/m],
  ['-v', /(?:\[|\btest)\s+(?:!\s+)?-v\s/m],
  ['an indirect name', /\$\{!\w+\}/m],
  ['a part of a text', /\$\{[\w@*]+:(?![-+=?])[^}\n]*[A-Za-z_$]/m],
  ['a subscript', new RegExp(`\\$\\{#?\\w+${subscript}`, 'm')],
  ['a subscript', new RegExp(`(?:^|[\\s;&|({])\\w+${subscript}\\+?=`, 'm')],
]

/** The first construct of a test script in which bash would take text for arithmetic, and its line; undefined without one. */
export function arithmeticIn(script: string): { what: string; line: number } | undefined {
  // Comments of whole lines are empty lines, and a line that goes on is one with the next, so that lines still count.
  const text = script.replaceAll(/^[ \t]*#.*$/gm, '').replaceAll('\\\n', ' \v')
  let first: { what: string; at: number } | undefined
  for (const [what, shape] of refused) {
    const at = text.search(shape)
    if (at !== -1 && (first === undefined || at < first.at)) first = { what, at }
  }
  if (first === undefined) return undefined
  return { what: first.what, line: text.slice(0, first.at + 1).split(/[\n\v]/).length }
}

/** Whether a file among the tests is a script of a shell. */
export function isShellScript(path: string, text: string): boolean {
  return (
    /\.(?:ba)?sh$/.test(path) || /^#!.*\b(?:ba|da|k|z)?sh\b/.test(text) || /\b(?:graded|fetch)\b/.test(text)
  )
}
