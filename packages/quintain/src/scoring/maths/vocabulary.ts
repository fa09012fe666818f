import type { RelationSign } from './syntax.ts'

/** What commands and words of mathematics mean to the parser. Maps, since names such as `constructor` are looked up too. */
export const relations = new Map<string, RelationSign>(
  Object.entries({
    '=': '=',
    '==': '=',
    '<': '<',
    '>': '>',
    '<=': '≤',
    '>=': '≥',
    '!=': '≠',
    '<>': '≠',
    lt: '<',
    gt: '>',
    le: '≤',
    leq: '≤',
    leqslant: '≤',
    ge: '≥',
    geq: '≥',
    geqslant: '≥',
    ne: '≠',
    neq: '≠',
    in: '∈',
    approx: '≈',
  }),
)

export const functions = new Map<string, string>(
  Object.entries({
    ...Object.fromEntries(
      'sin cos tan cot sec csc sinh cosh tanh ln log lg exp max min gcd lcm floor ceil abs sqrt cbrt'
        .split(' ')
        .map((name) => [name, name]),
    ),
    arcsin: 'asin',
    arccos: 'acos',
    arctan: 'atan',
    asin: 'asin',
    acos: 'acos',
    atan: 'atan',
  }),
)
export const inverses = new Map<string, string>(Object.entries({ sin: 'asin', cos: 'acos', tan: 'atan' }))

export const constants = new Set(['pi', 'infinity', 'infty', 'inf', 'oo'])
export const scales = new Map<string, bigint>(
  Object.entries({
    dozen: 12n,
    hundred: 100n,
    thousand: 1_000n,
    million: 1_000_000n,
    billion: 1_000_000_000n,
    trillion: 1_000_000_000_000n,
  }),
)
/** Words that change the number before them. */
export const operators = new Set(
  (
    'half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ' +
    'ninths tenth tenths hundredth hundredths thousandth thousandths hundreds thousands millions billions squared cubed ' +
    'times plus minus over divided multiplied less more greater fewer than not mod modulo choose factorial root below above ' +
    'to power negative double twice if when where but except almost about approximately by'
  ).split(' '),
)
export const basesByName = new Map<string, number>(
  Object.entries({
    two: 2,
    three: 3,
    eight: 8,
    ten: 10,
    twelve: 12,
    sixteen: 16,
  }),
)
export const startsWithCommand = new Set(
  'frac dfrac tfrac cfrac binom dbinom tbinom sqrt surd pi infty lbrace langle lfloor lceil lvert begin mathbb log ln emptyset'.split(
    ' ',
  ),
)
const greekNames =
  'alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell'.split(
    ' ',
  )

export function isGreek(name: string): boolean {
  return greekNames.includes(name)
}
