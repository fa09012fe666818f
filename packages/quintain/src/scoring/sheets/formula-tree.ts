import type { CellValue } from './cell-value.ts'
import { comparisons } from './formula-order.ts'
import { type CellRange, type FormulaToken, formulaTokens } from './formula-tokens.ts'

export type FormulaNode =
  | { kind: 'value'; value: CellValue }
  | { kind: 'range'; range: CellRange }
  | { kind: 'call'; name: string; given: FormulaNode[] }
  /** Signs in front: `negative` where their number of minuses is odd. */
  | { kind: 'minus'; negative: boolean; of: FormulaNode }
  /** Operations of one rank, done from the left. */
  | { kind: 'chain'; first: FormulaNode; rest: { sign: string; of: FormulaNode }[] }

const levels = [comparisons, ['&'], ['+', '-'], ['*', '/'], ['^']]
const mostDepth = 64

/** The tree of a formula; undefined where it cannot be read or nests more than 64 levels. */
export function formulaTree(formula: string): FormulaNode | undefined {
  const tokens = formulaTokens(formula)
  if (tokens === undefined) return undefined
  const reader = { tokens, at: 0, depth: 0 }
  const tree = level(reader, 0)
  return reader.at < tokens.length ? undefined : tree
}

/** The ranges that a tree names, in order. */
export function rangesOf(tree: FormulaNode, ranges: CellRange[] = []): CellRange[] {
  if (tree.kind === 'range') ranges.push(tree.range)
  else if (tree.kind === 'call') for (const node of tree.given) rangesOf(node, ranges)
  else if (tree.kind === 'minus') rangesOf(tree.of, ranges)
  else if (tree.kind === 'chain')
    for (const node of [tree.first, ...tree.rest.map(({ of }) => of)]) rangesOf(node, ranges)
  return ranges
}

interface Reader {
  tokens: readonly FormulaToken[]
  at: number
  depth: number
}

/** The sign that comes next, if one does. */
function next({ tokens, at }: Reader): string | undefined {
  const token = tokens[at]
  return token?.kind === 'sign' ? token.text : undefined
}

function take(reader: Reader, sign: string): boolean {
  if (next(reader) !== sign) return false
  reader.at++
  return true
}

function level(reader: Reader, index: number): FormulaNode | undefined {
  const signs = levels[index]
  if (signs === undefined) return signed(reader)
  const first = level(reader, index + 1)
  if (first === undefined) return undefined
  const rest: { sign: string; of: FormulaNode }[] = []
  for (let sign = next(reader); sign !== undefined && signs.includes(sign); sign = next(reader)) {
    reader.at++
    const of = level(reader, index + 1)
    if (of === undefined) return undefined
    rest.push({ sign, of })
  }
  return rest.length === 0 ? first : { kind: 'chain', first, rest }
}

/** A value with the signs before it, which bind closer than powers in spreadsheets, and the percent signs after it. */
function signed(reader: Reader): FormulaNode | undefined {
  let minuses = 0
  for (let minus = take(reader, '-'); minus || take(reader, '+'); minus = take(reader, '-'))
    if (minus) minuses++
  let node = primary(reader)
  if (node === undefined) return undefined
  let percents = 0
  while (take(reader, '%')) percents++
  if (percents > 0) {
    const rest = Array.from({ length: percents }, () => ({ sign: '/', of: number(100) }))
    node = { kind: 'chain', first: node, rest }
  }
  return minuses === 0 ? node : { kind: 'minus', negative: minuses % 2 === 1, of: node }
}

const number = (value: number): FormulaNode => ({
  kind: 'value',
  value: Number.isFinite(value) ? value : { error: '#NUM!' },
})

function primary(reader: Reader): FormulaNode | undefined {
  const token = reader.tokens[reader.at++]
  if (token === undefined) return undefined
  if (token.kind === 'range') return token
  if (token.kind === 'number') return number(Number(token.text))
  if (token.kind === 'text') return { kind: 'value', value: token.text }
  if (token.kind === 'error') return { kind: 'value', value: { error: token.text } }
  if (token.kind === 'name') return take(reader, '(') ? call(reader, token.text) : named(token.text)
  if (token.text !== '(') return undefined
  if (++reader.depth > mostDepth) return undefined
  const node = level(reader, 0)
  reader.depth--
  return take(reader, ')') ? node : undefined
}

function named(name: string): FormulaNode {
  if (name === 'TRUE' || name === 'FALSE') return { kind: 'value', value: name === 'TRUE' }
  return { kind: 'value', value: { error: '#NAME?' } }
}

function call(reader: Reader, name: string): FormulaNode | undefined {
  if (++reader.depth > mostDepth) return undefined
  const given: FormulaNode[] = []
  if (!take(reader, ')')) {
    do {
      // Nothing between two commas is a blank.
      const empty = next(reader) === ',' || next(reader) === ')'
      const node = empty ? ({ kind: 'value', value: null } as const) : level(reader, 0)
      if (node === undefined) return undefined
      given.push(node)
    } while (take(reader, ','))
    if (!take(reader, ')')) return undefined
  }
  reader.depth--
  return { kind: 'call', name, given }
}
