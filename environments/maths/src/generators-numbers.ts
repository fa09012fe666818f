import { fraction, gcd, multiple, simplestRoot, sum } from './latex.ts'
import { between, type Generator, nonZero } from './problem.ts'

/** A sum of fractions; from level 2 a product in it. */
export const rationals: Generator = (rng, level) => {
  const most = 6 * level
  const [a, c, e] = [nonZero(rng, most), nonZero(rng, most), level > 1 ? nonZero(rng, most) : 1]
  const [b, d, f] = [between(rng, 2, most), between(rng, 2, most), level > 1 ? between(rng, 2, most) : 1]
  const written = (top: number, bottom: number) => `\\left(\\frac{${top}}{${bottom}}\\right)`
  const echo = `${written(a, b)}+${written(c, d)}${level > 1 ? `\\cdot${written(e, f)}` : ''}`
  return {
    question: `Compute $${echo}$ exactly, as a single number in lowest terms.`,
    answer: fraction(a * d * f + c * e * b, b * d * f),
    facts: [a, b, c, d, e, f],
    echo,
  }
}

/** A sum of multiples of one root, which are written as others. */
export const surds: Generator = (rng, level) => {
  const inside = rng.pick([2, 3, 5, 6, 7, 10, 11])
  const factors = Array.from({ length: level + 1 }, () => between(rng, 2, 4 + 3 * level))
  const offset = level > 1 ? nonZero(rng, 20) : 0
  const echo = sum([multiple(offset, ''), ...factors.map((factor) => `\\sqrt{${factor * factor * inside}}`)])
  const outside = factors.reduce((all, factor) => all + factor * simplestRoot(inside).outside, 0)
  return {
    question: `Simplify $${echo}$ to the form with a single square root.`,
    answer: sum([multiple(offset, ''), multiple(outside, `\\sqrt{${inside}}`)]),
    facts: [offset, ...factors.map((factor) => factor * factor * inside)],
    echo,
  }
}

/** A power modulo a number. */
export const modular: Generator = (rng, level) => {
  const [base, modulus] = [between(rng, 2, 20), between(rng, 7, 30 * level)]
  const exponent = between(rng, 5, 10 ** level)
  let rest = 1
  for (let step = 0; step < exponent; step++) rest = (rest * base) % modulus
  return {
    question: `What is the remainder of $${base}^{${exponent}}$ when it is divided by ${modulus}?`,
    answer: String(rest),
    facts: [base, exponent, modulus],
  }
}

/** A sum of logarithms to one base, which is a rational number or a single logarithm. */
export const logarithms: Generator = (rng, level) => {
  const base = rng.pick([2, 3, 5])
  const other = rng.pick([2, 3, 5, 7, 11].filter((prime) => prime !== base))
  const [power, root] = [between(rng, 2, 3 + level), level > 1 ? between(rng, 2, 4) : 1]
  if (level < 3) {
    return {
      question: `Evaluate $\\log_{${base ** root}}${base ** power}$ as a rational number in lowest terms.`,
      answer: fraction(power, root),
      facts: [base ** root, base ** power],
      echo: `\\log_{${base ** root}}${base ** power}`,
    }
  }
  return {
    question: `Solve $${base}^{x}=${other}$ for $x$. Answer with a single logarithm of base ${base}.`,
    answer: `\\log_{${base}}{${other}}`,
    facts: [base, other],
  }
}

/** A product of complex numbers; at level 3 a quotient. */
export const complex: Generator = (rng, level) => {
  const most = 4 * level
  const [a, b, c, d] = [nonZero(rng, most), nonZero(rng, most), nonZero(rng, most), nonZero(rng, most)]
  const written = (re: number, im: number) => sum([multiple(re, ''), multiple(im, 'i')])
  if (level < 3) {
    const echo = `(${written(a, b)})(${written(c, d)})`
    const answer = sum([multiple(a * c - b * d, ''), multiple(a * d + b * c, 'i')])
    return {
      question: `Write $${echo}$ in the form $a+bi$.`,
      answer,
      facts: [a, b, c, d, level],
      echo,
    }
  }
  const [re, im, size] = [a * c + b * d, b * c - a * d, c * c + d * d]
  const echo = `\\frac{${written(a, b)}}{${written(c, d)}}`
  const imaginary = fractionOf(im, size)
  return {
    question: `Write $${echo}$ in the form $a+bi$ with fractions in lowest terms.`,
    answer: sum([re === 0 ? '' : fraction(re, size), imaginary]),
    facts: [a, b, c, d, level],
    echo,
  }
}

function fractionOf(numerator: number, denominator: number): string {
  if (numerator === 0) return ''
  const text = fraction(numerator, denominator)
  if (Math.abs(numerator) === denominator / gcd(1, denominator)) return numerator < 0 ? '-i' : 'i'
  return `${text}i`
}
