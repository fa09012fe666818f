import type { CellValue } from './cell-value.ts'
import { FormulaProblem, fifteenDigits, isCellError, type Spend, textNumber } from './formula-values.ts'

export const comparisons: readonly string[] = ['=', '<>', '<', '>', '<=', '>=']

/** Whether a comparison holds for an order: below 0, 0 or above 0. */
export const holds = (sign: string, way: number): boolean =>
  way === 0 ? sign !== '<>' && sign.includes('=') : sign.includes(way < 0 ? '<' : '>')

const ranks = ['number', 'string', 'boolean']

/** Numbers before texts before booleans; texts without case; a blank is what it is compared with. */
export function order(a: CellValue, b: CellValue): number {
  const x = plain(a ?? blankLike(b))
  const y = plain(b ?? blankLike(a))
  const rank = ranks.indexOf(typeof x) - ranks.indexOf(typeof y)
  if (rank !== 0) return rank
  return x < y ? -1 : x > y ? 1 : 0
}

function blankLike(other: CellValue): CellValue {
  return typeof other === 'string' ? '' : typeof other === 'boolean' ? false : 0
}

function plain(value: CellValue): number | string | boolean {
  if (typeof value === 'string') return value.toUpperCase()
  if (typeof value === 'number') return fifteenDigits(value)
  return value === true
}

/**
 * The test that a criterion of COUNTIF and its kin stands for: a comparison sign and a value, where text may hold the
 * wildcards `*` and `?` (`~` makes them plain).
 */
export function criterion(wanted: CellValue, spend: Spend): (value: CellValue) => boolean {
  if (isCellError(wanted)) return (value) => isCellError(value) && value.error === wanted.error
  if (typeof wanted !== 'string')
    return (value) => value !== null && sameKind(value, wanted ?? 0) && order(value, wanted ?? 0) === 0
  const [, sign = '=', text = ''] = /^(<=|>=|<>|[=<>])?(.*)$/s.exec(wanted) ?? []
  const bare = sign === '=' && !wanted.startsWith('=')
  if (text === '') {
    if (bare) return (value) => value === null || value === ''
    if (sign === '=') return (value) => value === null
    return sign === '<>' ? (value) => value !== null : () => false
  }
  const upper = text.toUpperCase()
  const aim = textNumber(text) ?? (upper === 'TRUE' || upper === 'FALSE' ? upper === 'TRUE' : text)
  const equal = sign === '=' || sign === '<>'
  if (typeof aim === 'string' && equal) {
    const same = (value: CellValue) => typeof value === 'string' && wildcard(text, value, spend)
    return sign === '=' ? same : (value) => !same(value)
  }
  // Digits that stand as text count as the number here, as in spreadsheets, but only for equality.
  const read = (value: CellValue) =>
    equal && typeof aim === 'number' && typeof value === 'string' ? (textNumber(value) ?? value) : value
  return (given) => {
    const value = read(given)
    return value !== null && sameKind(value, aim) ? holds(sign, order(value, aim)) : sign === '<>'
  }
}

const sameKind = (a: CellValue, b: CellValue) => typeof a === typeof b

/** Whether a text is of a pattern with `*`, `?` and `~`, without case. Patterns of more than 255 characters are refused. */
export function wildcard(pattern: string, text: string, spend: Spend): boolean {
  if (pattern.length > 255) throw new FormulaProblem('#VALUE!')
  spend(text.length / 64)
  if (!/[*?~]/.test(pattern)) return pattern.toUpperCase() === text.toUpperCase()
  const pieces = patternPieces(pattern)
  const letters = text.toUpperCase()
  // Where the last star stood, and how much of the text it has taken.
  let star = -1
  let taken = 0
  let piece = 0
  let at = 0
  while (at < letters.length) {
    spend(1 / 16)
    const wanted = pieces[piece]
    if (wanted !== undefined && wanted !== 'many' && (wanted === 'one' || wanted.letter === letters[at])) {
      piece++
      at++
    } else if (wanted === 'many') {
      star = piece++
      taken = at
    } else if (star >= 0) {
      piece = star + 1
      at = ++taken
    } else return false
  }
  while (pieces[piece] === 'many') piece++
  return piece === pieces.length
}

type Piece = 'many' | 'one' | { letter: string }

function patternPieces(pattern: string): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at] ?? ''
    if (letter === '~' && /[*?~]/.test(pattern[at + 1] ?? '')) pieces.push({ letter: pattern[++at] ?? '' })
    else if (letter === '*') pieces.push('many')
    else if (letter === '?') pieces.push('one')
    else for (const upper of letter.toUpperCase()) pieces.push({ letter: upper })
  }
  return pieces
}
