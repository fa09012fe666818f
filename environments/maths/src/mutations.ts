/** An answer that is near a gold one, and what was done to it. */
export interface Variant {
  kind: string
  text: string
}

/**
 * Wrong answers near a gold one that is in simplest form: a digit, the sign, an end of an interval, an element, a name
 * changed. Each has another value than the gold answer.
 */
export function mutants(gold: string): Variant[] {
  const found: Variant[] = []
  const add = (kind: string, text: string) => {
    if (text !== gold && !found.some((known) => known.text === text)) found.push({ kind, text })
  }
  for (const match of gold.matchAll(/\d+/g)) {
    const [digits, at] = [match[0], match.index]
    const put = (value: string) => gold.slice(0, at) + value + gold.slice(at + digits.length)
    add('off by one', put(String(Number(digits) + 1)))
    if (Number(digits) > 2) add('off by one', put(String(Number(digits) - 1)))
    add('digit added', put(`${digits}7`))
    if (digits.length > 1 && digits[0] !== digits[1]) {
      const swapped = digits[1]! + digits[0]! + digits.slice(2)
      if (!swapped.startsWith('0')) add('digits swapped', put(swapped))
    }
  }
  if (/^-?(?:\d|\\frac|[a-z]|\\sqrt|\\pi)/.test(gold) && gold !== '0')
    add('sign', gold.startsWith('-') ? gold.slice(1) : `-${gold}`)
  const half = /^(-?)\\frac\{([^{}]+)\}\{([^{}]+)\}$/.exec(gold)
  if (half !== null) add('upside down', `${half[1]}\\frac{${half[3]}}{${half[2]}}`)
  if (/^[([].*,.*[)\]]$/.test(gold) && !gold.includes('cup') && gold.includes('\\infty') === false) {
    const inner = gold.slice(1, -1).split(',')
    if (inner.length === 2 && inner[0] !== inner[1])
      add('swapped', `${gold[0]}${inner[1]},${inner[0]}${gold.at(-1)}`)
  }
  // A closed end for an open one is another set; of a point it is another thing altogether.
  const last = gold.at(-1)
  if (/^[([]/.test(gold) && gold.includes(',') && (last === ')' || last === ']'))
    add('bracket', `${gold.slice(0, -1)}${last === ')' ? ']' : ')'}`)
  if (gold.startsWith('\\{')) {
    const inner = gold.slice(2, -2)
    add('element added', `\\{${inner},97\\}`)
    if (inner.includes(',')) add('element left out', `\\{${inner.slice(0, inner.indexOf(','))}\\}`)
  }
  if (gold.includes('\\cup')) {
    add('part left out', gold.slice(0, gold.indexOf('\\cup')))
    add('and for or', gold.replace('\\cup', '\\cap'))
  }
  if (gold.includes('\\pi')) add('constant', gold.replace('\\pi', 'e'))
  if (gold.includes('\\sqrt')) add('root left out', gold.replace(/\\sqrt\{(\d+)\}/, '\\cdot $1'))
  if (gold.includes('x')) add('another name', gold.replaceAll('x', 'y'))
  if (/^(?:[\da-z-]|\\(?:frac|sqrt|pi))/.test(gold)) add('one more', `${gold}+1`)
  return found
}

/** Other ways to write a gold answer. Each has its value. */
export function rewritings(gold: string): Variant[] {
  const found: Variant[] = []
  const add = (kind: string, text: string) => {
    if (text !== gold) found.push({ kind, text })
  }
  add('dfrac', gold.replaceAll('\\frac', '\\dfrac'))
  add('dollar signs', `$${gold}$`)
  add('spaces', gold.replaceAll(',', ', ').replaceAll('+', ' + '))
  add('sizes', gold.replace(/^\(/, '\\left(').replace(/\)$/, gold.startsWith('(') ? '\\right)' : ')'))
  if (/^-?\d+$/.test(gold)) {
    add('point zero', `${gold}.0`)
    add('over one', `\\frac{${gold}}{1}`)
  }
  const half = /^(-?)\\frac\{(\d+)\}\{(\d+)\}$/.exec(gold)
  if (half !== null) {
    const [, sign, top, bottom] = half
    add('slash', `${sign}${top}/${bottom}`)
    add('not in lowest terms', `${sign}\\frac{${3 * Number(top)}}{${3 * Number(bottom)}}`)
    if (sign === '-') add('sign inside', `\\frac{-${top}}{${bottom}}`)
  }
  const set = /^\\\{([^,]+),([^,]+)\\\}$/.exec(gold)
  if (set !== null) add('order of a set', `\\{${set[2]},${set[1]}\\}`)
  const root = /^(\d+)\\sqrt\{(\d+)\}$/.exec(gold)
  if (root !== null) add('below the root', `\\sqrt{${Number(root[1]) ** 2 * Number(root[2])}}`)
  const pi = /^\\frac\{(\d*)\\pi\}\{(\d+)\}$/.exec(gold)
  if (pi !== null) add('pi behind', `\\frac{${pi[1] || 1}}{${pi[2]}}\\pi`)
  const line = /^(-?\d*x)([+-]\d+)$/.exec(gold)
  if (line !== null)
    add('order of terms', `${line[2]!.replace(/^\+/, '')}${line[1]!.startsWith('-') ? '' : '+'}${line[1]}`)
  if (gold.startsWith('\\begin{pmatrix}')) add('square brackets', gold.replaceAll('pmatrix', 'bmatrix'))
  return found
}
