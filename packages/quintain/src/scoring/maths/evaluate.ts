import type { Budget } from './budget.ts'
import { applyFunction, exponential, logarithm } from './functions.ts'
import type { Value } from './poly.ts'
import { rational } from './rational.ts'
import type { Node } from './syntax.ts'
import {
  add,
  binomial,
  divide,
  eValue,
  factorial,
  functionValue,
  iValue,
  multiply,
  NoValue,
  negate,
  ofNumber,
  piValue,
  raise,
  rationalOf,
  symbol,
} from './value.ts'

/** Which logarithm is meant where none is said; books differ. */
export type BareLog = 10 | 'e'

export interface Reader {
  budget: Budget
  bareLog: BareLog
  /** Told that the answer has a logarithm without a base. */
  sawBareLog: boolean
}

/** What an expression is worth. Throws `NoValue` for one that has no value, such as a list. */
export function evaluate(node: Node, reader: Reader): Value {
  const { budget } = reader
  budget.spend(4)
  const of = (inner: Node) => evaluate(inner, reader)
  switch (node.kind) {
    case 'number':
      return ofNumber(node.value)
    case 'symbol':
      return symbol(node.name)
    case 'constant':
      return node.name === 'pi' ? piValue : node.name === 'e' ? eValue : iValue
    case 'sum': {
      let sum = of(node.items[0]!)
      for (const item of node.items.slice(1)) sum = add(sum, of(item), budget)
      return sum
    }
    case 'minus':
      return negate(of(node.item))
    case 'product': {
      let product = of(node.items[0]!)
      for (const item of node.items.slice(1)) product = multiply(product, of(item), budget)
      return product
    }
    case 'quotient':
      return divide(of(node.over), of(node.under), budget)
    case 'power': {
      const isE = node.base.kind === 'constant' && node.base.name === 'e'
      return isE ? exponential(of(node.exponent), budget) : raise(of(node.base), of(node.exponent), budget)
    }
    case 'factorial': {
      const item = of(node.item)
      const known = rationalOf(item)
      return known === undefined ? functionValue('factorial', item) : factorial(known, budget)
    }
    case 'binomial': {
      const [n, k] = [rationalOf(of(node.n)), rationalOf(of(node.k))]
      if (n === undefined || k === undefined) throw new NoValue('a choice of variables')
      return binomial(n, k, budget)
    }
    case 'percent':
      return multiply(of(node.item), ofNumber(rational(1n, 100n)), budget)
    case 'function':
      return ofFunction(node, reader)
    case 'matrix':
      if (!node.determinant) throw new NoValue(node.kind)
      return determinant(
        node.rows.map((row) => row.map(of)),
        budget,
      )
    default:
      throw new NoValue(node.kind)
  }
}

const mostRows = 6

/** By its first column; the rows that are left out cost as many products as there are orders of rows. */
function determinant(rows: readonly (readonly Value[])[], budget: Budget): Value {
  const [first] = rows
  if (first === undefined || rows.length !== first.length || rows.length > mostRows)
    throw new NoValue('a determinant of this shape')
  if (rows.length === 1) return first[0]!
  let sum = ofNumber(rational(0n))
  for (const [at, [head]] of rows.entries()) {
    const minor = rows.filter((_, place) => place !== at).map((row) => row.slice(1))
    const term = multiply(head!, determinant(minor, budget), budget)
    sum = add(sum, at % 2 === 0 ? term : negate(term), budget)
  }
  return sum
}

const angular = new Set(['sin', 'cos', 'tan', 'cot', 'sec', 'csc'])

function ofFunction(node: Node & { kind: 'function' }, reader: Reader): Value {
  const { name } = node
  const { budget } = reader
  const args = node.args.map((arg) => {
    // Degrees mean something inside a sine; as an answer they are a unit.
    if (arg.kind !== 'degrees' || !angular.has(name)) return evaluate(arg, reader)
    const turned = multiply(evaluate(arg.item, reader), piValue, budget)
    return multiply(turned, ofNumber(rational(1n, 180n)), budget)
  })
  const [x, base] = args
  if (x === undefined) throw new NoValue('a function of nothing')
  if (name === 'log') {
    if (base === undefined) reader.sawBareLog = true
    const top = logarithm(x, budget)
    if (base === undefined && reader.bareLog === 'e') return top
    return divide(top, logarithm(base ?? ofNumber(rational(10n)), budget), budget)
  }
  const known = applyFunction(name, args, budget)
  if (known !== undefined) return known
  if (args.length > 1) throw new NoValue('a function of several things')
  return functionValue(name, x)
}
