import type { Formula } from '../../scoring/index.ts'

/** Lowest and highest that something can be. */
export type Range = readonly [low: number, high: number]

const everything: Range = [-Infinity, Infinity]

/**
 * Between which values a formula lies when its names lie in their ranges, by interval arithmetic: never too narrow, and
 * wider than need be where a name stands more than once.
 *
 * Source: Moore, Kearfott and Cloud, Introduction to Interval Analysis (2009), chapter 2.
 */
export function rangeOfFormula(formula: Formula, names: Readonly<Record<string, Range>>): Range {
  switch (formula.kind) {
    case 'number':
      return [formula.value, formula.value]
    case 'name':
      return Object.hasOwn(names, formula.name) ? names[formula.name]! : everything
    case 'minus': {
      const [low, high] = rangeOfFormula(formula.item, names)
      return [-high, -low]
    }
    case 'operation':
      return combined(formula.sign, rangeOfFormula(formula.left, names), rangeOfFormula(formula.right, names))
    case 'call':
      return called(
        formula.name,
        formula.args.map((arg) => rangeOfFormula(arg, names)),
      )
  }
}

function combined(sign: '+' | '-' | '*' | '/' | '^', a: Range, b: Range): Range {
  switch (sign) {
    case '+':
      return whole([a[0] + b[0], a[1] + b[1]])
    case '-':
      return whole([a[0] - b[1], a[1] - b[0]])
    case '*':
      return corners(a, b, (x, y) => (x === 0 || y === 0 ? 0 : x * y))
    case '/':
      return b[0] <= 0 && b[1] >= 0 ? everything : corners(a, b, (x, y) => x / y)
    case '^':
      // Below zero a power jumps about with its exponent, but for whole ones.
      if (a[0] >= 0) return corners(a, b, (x, y) => x ** y)
      if (b[0] !== b[1] || !Number.isInteger(b[0]) || b[0] < 0) return everything
      return b[0] % 2 === 0 && a[1] >= 0
        ? [0, Math.max(a[0] ** b[0], a[1] ** b[0])]
        : corners(a, b, (x, y) => x ** y)
  }
}

function called(name: string, args: readonly Range[]): Range {
  const [first = everything] = args
  switch (name) {
    case 'min':
      return [Math.min(...args.map(([low]) => low)), Math.min(...args.map(([, high]) => high))]
    case 'max':
      return [Math.max(...args.map(([low]) => low)), Math.max(...args.map(([, high]) => high))]
    case 'abs': {
      const ends = first.map(Math.abs)
      return [first[0] <= 0 && first[1] >= 0 ? 0 : Math.min(...ends), Math.max(...ends)]
    }
    case 'floor':
      return [Math.floor(first[0]), Math.floor(first[1])]
    case 'ceil':
      return [Math.ceil(first[0]), Math.ceil(first[1])]
    case 'exp':
      return [Math.exp(first[0]), Math.exp(first[1])]
    case 'sqrt':
      return whole([Math.sqrt(Math.max(first[0], 0)), Math.sqrt(Math.max(first[1], 0))])
    case 'log':
      return whole([Math.log(Math.max(first[0], 0)), Math.log(Math.max(first[1], 0))])
    default:
      return everything
  }
}

function corners(a: Range, b: Range, of: (x: number, y: number) => number): Range {
  const values = [of(a[0], b[0]), of(a[0], b[1]), of(a[1], b[0]), of(a[1], b[1])]
  return whole([Math.min(...values), Math.max(...values)])
}

/** What cannot be said is anything. */
function whole(range: Range): Range {
  return Number.isNaN(range[0]) || Number.isNaN(range[1]) ? everything : range
}
