import { createRng } from 'quintain'
import { expect, test } from 'vitest'
import { type GeneratorName, generatorNames, generators } from './generators.ts'

/*
 * Each answer is worked out again from the numbers of its problem, in another way (by trying, by counting, by digits), and
 * read by the few lines below, not by the scorer.
 */

/** The value of an answer by digits: fractions, roots, π and signs. */
function value(latex: string): number {
  const plain = latex
    .replace(/\\left|\\right|\s/g, '')
    .replace(/\\log_\{?(\d+)\}?\{?(\d+)\}?/g, '(Math.log($2)/Math.log($1))')
  let text = plain
  for (let before = ''; before !== text; ) {
    before = text
    text = text
      .replace(/\\frac\{([^{}]*)\}\{([^{}]*)\}/g, '(($1)/($2))')
      .replace(/\\sqrt\{([^{}]*)\}/g, '(Math.sqrt($1))')
  }
  text = text
    .replace(/\\pi/g, '(Math.PI)')
    .replace(/\^\{?(-?\d+)\}?/g, '**$1')
    .replace(/(\d|\)|x)(?=\()/g, '$1*')
    .replace(/(\d|\))(?=x)/g, '$1*')
  if (!/^[\d+\-*/().xMathsqrlogPIe]*$/.test(text)) throw new Error(`not read: ${latex}`)
  return Number(new Function('x', `return ${text.replace(/x/g, '(x)')}`)(0))
}

const at = (latex: string, x: number): number =>
  Number(
    new Function(
      'x',
      `return ${latex
        .replace(/\^\{?(\d+)\}?/g, '**$1')
        .replace(/(\d)(?=x)/g, '$1*')
        .replace(/x/g, '(x)')
        .replace(/^-\(x\)/, '-1*(x)')}`,
    )(x),
  )

const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
const parts = (latex: string): string[] => {
  const found: string[] = []
  let depth = 0
  let start = 0
  const inner = latex.replace(/^\\\{|\\\}$/g, '').replace(/^\(|\)$/g, '')
  for (let place = 0; place <= inner.length; place++) {
    const sign = inner[place]
    if (sign === '{' || sign === '(') depth++
    if (sign === '}' || sign === ')') depth--
    if (sign === undefined || (sign === ',' && depth === 0)) {
      found.push(inner.slice(start, place))
      start = place + 1
    }
  }
  return found
}

/** Of a polynomial, the lowest power first. */
const polynomialAt = (coefficients: readonly number[], x: number): number =>
  coefficients.reduce((sum, count, power) => sum + count * x ** power, 0)

/** Complex answers as pairs. */
function complexOf(latex: string): [number, number] {
  const terms = latex.replace(/(?!^)([+-])/g, ' $1').split(' ')
  let [re, im] = [0, 0]
  for (const term of terms) {
    if (!term.endsWith('i')) re += value(term)
    else im += /^[+-]?i$/.test(term) ? Number(`${term.replace('i', '')}1`) : value(term.slice(0, -1))
  }
  return [re, im]
}

const holds: Record<GeneratorName, (answer: string, facts: readonly number[]) => boolean> = {
  rationals: (answer, [a = 0, b = 1, c = 0, d = 1, e = 0, f = 1]) =>
    near(value(answer), a / b + (c / d) * (e / f)),
  surds: (answer, [offset = 0, ...insides]) =>
    near(
      value(answer),
      insides.reduce((sum, inside) => sum + Math.sqrt(inside), offset),
    ),
  linear: (answer, [a = 0, b = 0, c = 0, d = 0]) => near(a * value(answer) + b, c * value(answer) + d),
  quadratic: (answer, [a = 0, b = 0, c = 0]) => {
    const roots = parts(answer).map(value)
    return (
      roots.length === 2 &&
      !near(roots[0]!, roots[1]!) &&
      roots.every((x) => Math.abs(a * x * x + b * x + c) < 1e-6)
    )
  },
  systems: (answer, [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]) => {
    const [x = 0, y = 0] = parts(answer).map(value)
    return near(a * x + b * y, e) && near(c * x + d * y, f)
  },
  remainders(answer, [level = 1, ...rest]) {
    const [divisor, dividend] = [rest.slice(0, 3), rest.slice(3)]
    // Long division, from the highest power down.
    const left = [...dividend]
    for (let top = left.length - 1; top >= 2; top--) {
      const times = left[top]! / divisor[2]!
      for (let k = 0; k < 3; k++) left[top - 2 + k]! -= times * divisor[k]!
    }
    return level > 0 && [0, 1, -2, 3].every((x) => near(at(answer, x), polynomialAt(left.slice(0, 2), x)))
  },
  inequalities(answer, [low = 0, high = 0, strict, inside, scale = 1]) {
    const inAnswer = (x: number) =>
      answer.split('\\cup').some((part) => {
        const [, open, from = '', to = '', close] = /^([([])(.*),(.*)([)\]])$/.exec(part) ?? []
        const bound = (text: string) =>
          text.includes('infty') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text)
        const above = open === '[' ? x >= bound(from) : x > bound(from)
        return above && (close === ']' ? x <= bound(to) : x < bound(to))
      })
    const isSolution = (x: number) => {
      const y = scale * (x - low) * (x - high)
      if (y === 0) return strict === 0
      return inside === 1 ? y < 0 : y > 0
    }
    return [low - 2, low, low + 0.5, high - 0.5, high, high + 3].every((x) => inAnswer(x) === isSolution(x))
  },
  calculus(answer, [to = 0, ...coefficients]) {
    if (to === 0) {
      const step = 1e-5
      return [0.5, 1, -1.5].every((x) => {
        const slope =
          (polynomialAt(coefficients, x + step) - polynomialAt(coefficients, x - step)) / (2 * step)
        return Math.abs(at(answer, x) - slope) < 1e-4
      })
    }
    // Simpson's rule over many strips.
    const strips = 2_000
    let sum = polynomialAt(coefficients, 0) + polynomialAt(coefficients, to)
    for (let k = 1; k < strips; k++)
      sum += (k % 2 === 1 ? 4 : 2) * polynomialAt(coefficients, (to * k) / strips)
    return Math.abs(value(answer) - (sum * to) / strips / 3) < 1e-6
  },
  counting(answer, [women = 0, men = 0, size = 0, least = 0]) {
    let ways = 0
    for (let mask = 0; mask < 2 ** (women + men); mask++) {
      let [people, chosen] = [0, 0]
      for (let who = 0; who < women + men; who++) {
        if ((mask & (1 << who)) === 0) continue
        people++
        if (who < women) chosen++
      }
      if (people === size && chosen >= least) ways++
    }
    return Number(answer) === ways
  },
  probability(answer, [dice = 1, sides = 1, target = 0]) {
    let good = 0
    for (let roll = 0; roll < sides ** dice; roll++) {
      let total = 0
      for (let die = 0, left = roll; die < dice; die++, left = Math.floor(left / sides))
        total += (left % sides) + 1
      if (total >= target) good++
    }
    return near(value(answer), good / sides ** dice)
  },
  modular: (answer, [base = 0, exponent = 0, modulus = 1]) =>
    BigInt(answer) === BigInt(base) ** BigInt(exponent) % BigInt(modulus),
  geometry: (answer, [level, radius = 0, other = 0]) => {
    const whole = Math.PI * radius * radius
    const size = level === 1 ? (whole * other) / 360 : (whole * other) / 3
    return near(value(answer), level === 3 ? size / 2 : size)
  },
  logarithms: (answer, [base = 2, power = 2]) => near(base ** value(answer), power),
  complex(answer, [a = 0, b = 0, c = 0, d = 0, level]) {
    const [re, im] = complexOf(answer)
    // Of a quotient: times the divisor it is the dividend.
    if (level === 3) return near(re * c - im * d, a) && near(re * d + im * c, b)
    return near(re, a * c - b * d) && near(im, a * d + b * c)
  },
  matrices(answer, [size = 0, ...numbers]) {
    const rows =
      /\}(.*)\\end/s
        .exec(answer)?.[1]
        ?.split('\\\\')
        .map((row) => row.split('&').map(Number)) ?? []
    const [left, right] = [numbers.slice(0, size * size), numbers.slice(size * size)]
    return (
      rows.length === size &&
      rows.every((row, i) =>
        row.every((entry, j) => {
          let sum = 0
          for (let k = 0; k < size; k++) sum += left[i * size + k]! * right[k * size + j]!
          return entry === sum
        }),
      )
    )
  },
  sequences(answer, facts) {
    if (facts[0] !== 3) {
      const [, first = 0, top = 0, bottom = 1] = facts
      let sum = 0
      for (let k = 0, term = first; k < 20_000; k++, term *= top / bottom) sum += term
      return near(value(answer), sum)
    }
    const [, p = 0, q = 0, a = 0, b = 0, n = 0] = facts
    const term = (k: number): number => (k === 1 ? a : k === 2 ? b : p * term(k - 1) + q * term(k - 2))
    return Number(answer) === term(n)
  },
}

test.each(generatorNames)('%s: every answer is right, worked out in another way', (name) => {
  for (const level of [1, 2, 3] as const) {
    for (let seed = 0; seed < 100; seed++) {
      const { answer, facts } = generators[name](createRng(`${name}/${level}/${seed}`), level)
      expect(holds[name](answer, facts), `${answer} of ${facts.join(' ')}`).toBe(true)
    }
  }
})
