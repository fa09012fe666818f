import { fraction, multiple, polynomial, share, simplestRoot, sum } from './latex.ts'
import { between, type Generator, nonZero } from './problem.ts'

/** One unknown, on both sides. */
export const linear: Generator = (rng, level) => {
  const most = 5 * level * level
  const [a, b, d] = [nonZero(rng, most), nonZero(rng, most), nonZero(rng, most)]
  const c = level === 1 ? 0 : rng.pick([a + 1, a - 1, a + 3, -a])
  return {
    question: `Solve $${polynomial([b, a])}=${polynomial([d, c])}$ for $x$.`,
    answer: fraction(d - b, a - c),
    facts: [a, b, c, d],
  }
}

/** Two real solutions: whole, then rational, then with a root. */
export const quadratic: Generator = (rng, level) => {
  if (level < 3) {
    const [p, r] = level === 1 ? [1, 1] : [between(rng, 1, 4), between(rng, 1, 4)]
    const q = nonZero(rng, 9)
    let s = nonZero(rng, 9)
    while (q * r === s * p) s += 1
    if (s === 0) s = -1
    if (q * r === s * p) s -= 1
    const [a, b, c] = [p * r, -(p * s + q * r), q * s]
    return {
      question: `Solve $${polynomial([c, b, a])}=0$. Answer with the set of all solutions.`,
      answer: `\\{${fraction(q, p)},${fraction(s, r)}\\}`,
      facts: [a, b, c],
    }
  }
  const b = nonZero(rng, 8)
  const a = between(rng, 1, 3)
  let c = -between(rng, 1, 9)
  while (simplestRoot(b * b - 4 * a * c).inside === 1) c -= 1
  const { outside, inside } = simplestRoot(b * b - 4 * a * c)
  const root = (sign: number) => sum([fraction(-b, 2 * a), share(sign * outside, 2 * a, `\\sqrt{${inside}}`)])
  return {
    question: `Solve $${polynomial([c, b, a])}=0$. Answer with the set of all solutions.`,
    answer: `\\{${root(1)},${root(-1)}\\}`,
    facts: [a, b, c],
  }
}

/** Two equations with two unknowns. */
export const systems: Generator = (rng, level) => {
  const most = 3 * level
  const [a, b, c] = [nonZero(rng, most), nonZero(rng, most), nonZero(rng, most)]
  let d = nonZero(rng, most)
  while (a * d === b * c || d === 0) d += 1
  const [e, f] =
    level === 1 ? [a * 2 + b * between(rng, 3, 9), 0] : [nonZero(rng, 10 * level), nonZero(rng, 10 * level)]
  const size = a * d - b * c
  const line = (first: number, second: number) => sum([multiple(first, 'x'), multiple(second, 'y')])
  return {
    question: `Solve the system $${line(a, b)}=${e}$, $${line(c, d)}=${f}$. Answer with the pair $(x,y)$.`,
    answer: `(${fraction(e * d - b * f, size)},${fraction(a * f - e * c, size)})`,
    facts: [a, b, c, d, e, f],
  }
}

/** What is left of a polynomial divided by another. */
export const remainders: Generator = (rng, level) => {
  const most = 3 + level
  const divisor = [nonZero(rng, most), nonZero(rng, most), 1]
  const quotient = [...Array.from({ length: level }, () => nonZero(rng, most)), 1]
  const rest = [nonZero(rng, 9), nonZero(rng, 9)]
  const dividend = rest.concat(Array.from({ length: level + 1 }, () => 0))
  for (const [i, p] of divisor.entries())
    for (const [j, q] of quotient.entries()) dividend[i + j] = dividend[i + j]! + p * q
  return {
    question: `What is the remainder of $${polynomial(dividend)}$ when it is divided by $${polynomial(divisor)}$?`,
    answer: polynomial(rest),
    facts: [level, ...divisor, ...dividend],
  }
}

/** The solutions of an inequality as an interval or a union of two. */
export const inequalities: Generator = (rng, level) => {
  const low = between(rng, -9, 5)
  const high = low + between(rng, 1, 4 + 3 * level)
  const strict = rng.pick([true, false])
  const inside = level === 1 || rng.pick([true, false])
  const scale = level > 2 ? between(rng, 2, 5) : 1
  const relation = `${inside ? '' : '-'}${strict ? '<' : '\\le'}`.replace(/^-(.*)$/, (_, less: string) =>
    less === '<' ? '>' : '\\ge',
  )
  const [open, close] = strict ? ['(', ')'] : ['[', ']']
  return {
    question: `Solve $${polynomial([scale * low * high, -scale * (low + high), scale])}${relation} 0$ over the reals. Answer in interval notation.`,
    answer: inside ? `${open}${low},${high}${close}` : `(-\\infty,${low}${close}\\cup${open}${high},\\infty)`,
    facts: [low, high, Number(strict), Number(inside), scale],
  }
}
