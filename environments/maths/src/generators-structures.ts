import { fraction, matrix, polynomial, share } from './latex.ts'
import { between, type Generator, nonZero } from './problem.ts'

/** A derivative (a polynomial) or a definite integral (a rational number). */
export const calculus: Generator = (rng, level) => {
  const coefficients = Array.from({ length: level + 2 }, () => nonZero(rng, 6))
  const written = polynomial(coefficients)
  if (rng.pick([true, false])) {
    return {
      question: `Find the derivative of $${written}$ with respect to $x$.`,
      answer: polynomial(coefficients.map((count, exponent) => count * exponent).slice(1)),
      facts: [0, ...coefficients],
    }
  }
  const to = between(rng, 1, 1 + level)
  // All powers over one denominator.
  const denominator = coefficients.reduce((all, _, exponent) => all * (exponent + 1), 1)
  const numerator = coefficients.reduce(
    (all, count, exponent) => all + (count * denominator * to ** (exponent + 1)) / (exponent + 1),
    0,
  )
  return {
    question: `Compute $\\int_{0}^{${to}}\\left(${written}\\right)\\,dx$ as a rational number in lowest terms.`,
    answer: fraction(numerator, denominator),
    facts: [to, ...coefficients],
  }
}

/** Choices of a committee with a condition. */
export const counting: Generator = (rng, level) => {
  const [women, men] = [between(rng, 3, 3 + 2 * level), between(rng, 3, 3 + 2 * level)]
  const size = between(rng, 2, Math.min(2 + level, women + men - 1))
  const least = between(rng, 1, Math.min(size, women))
  let ways = 0
  for (let chosen = least; chosen <= size; chosen++)
    ways += binomial(women, chosen) * binomial(men, size - chosen)
  return {
    question: `From ${women} women and ${men} men a committee of ${size} is chosen. In how many ways can it have at least ${least} women?`,
    answer: String(ways),
    facts: [women, men, size, least],
  }
}

function binomial(of: number, chosen: number): number {
  if (chosen < 0 || chosen > of) return 0
  let ways = 1
  for (let at = 0; at < chosen; at++) ways = (ways * (of - at)) / (at + 1)
  return ways
}

/** Dice with a condition on their sum. */
export const probability: Generator = (rng, level) => {
  const [dice, sides] = [Math.min(level + 1, 3), rng.pick([4, 6, 8])]
  const target = between(rng, dice + 1, dice * sides - 1)
  let ways = [1]
  for (let die = 0; die < dice; die++) {
    const next = Array.from({ length: ways.length + sides }, () => 0)
    for (const [total, count] of ways.entries())
      for (let side = 1; side <= sides; side++) next[total + side] = next[total + side]! + count
    ways = next
  }
  const good = ways.reduce((all, count, total) => all + (total >= target ? count : 0), 0)
  return {
    question: `${dice} fair dice with ${sides} sides each are thrown. What is the probability that their sum is at least ${target}? Answer with a fraction in lowest terms.`,
    answer: fraction(good, sides ** dice),
    facts: [dice, sides, target],
  }
}

/** Solids and sectors, with π in the answer. */
export const geometry: Generator = (rng, level) => {
  const radius = between(rng, 1, 4 * level)
  if (level === 1) {
    const degrees = rng.pick([30, 45, 60, 90, 120, 135, 150, 210])
    return {
      question: `A sector of a circle with radius ${radius} has an angle of ${degrees} degrees. What is its exact area?`,
      answer: share(radius * radius * degrees, 360, '\\pi'),
      facts: [level, radius, degrees],
    }
  }
  const height = between(rng, 1, 5 * level)
  const parts = level === 2 ? 3 : 6
  const what =
    level === 2
      ? `A cone has radius ${radius} and height ${height}.`
      : `Half of a cone with radius ${radius} and height ${height}, cut through its axis, is left.`
  return {
    question: `${what} What is its exact volume?`,
    answer: share(radius * radius * height, parts, '\\pi'),
    facts: [level, radius, height],
  }
}

/** A product of matrices. */
export const matrices: Generator = (rng, level) => {
  const size = Math.min(level + 1, 3)
  const drawn = () =>
    Array.from({ length: size }, () =>
      Array.from({ length: size }, () => between(rng, -3 * level, 3 * level)),
    )
  const [left, right] = [drawn(), drawn()]
  const echo = `${matrix(left)}${matrix(right)}`
  return {
    question: `Compute the product $${echo}$. Answer with one matrix of numbers.`,
    answer: matrix(
      left.map((row) => row.map((_, j) => row.reduce((all, value, k) => all + value * right[k]![j]!, 0))),
    ),
    facts: [size, ...left.flat(), ...right.flat()],
    echo,
  }
}

/** The sum of an infinite geometric series, or a term of a recurrence. */
export const sequences: Generator = (rng, level) => {
  if (level < 3) {
    const [first, top] = [nonZero(rng, 9 * level), between(rng, 1, 3 * level)]
    const bottom = top + between(rng, 1, 4 * level)
    return {
      question: `What is the sum of the infinite geometric series with first term ${first} and ratio $${fraction(top, bottom)}$?`,
      answer: fraction(first * bottom, bottom - top),
      facts: [level, first, top, bottom],
    }
  }
  const [p, q, a, b, n] = [
    nonZero(rng, 3),
    nonZero(rng, 3),
    nonZero(rng, 4),
    nonZero(rng, 4),
    between(rng, 6, 10),
  ]
  let [before, now] = [a, b]
  for (let at = 3; at <= n; at++) [before, now] = [now, p * now + q * before]
  return {
    question: `A sequence has $a_1=${a}$, $a_2=${b}$ and $a_{n}=(${p})a_{n-1}+(${q})a_{n-2}$ for $n \\ge 3$. What is $a_{${n}}$?`,
    answer: String(now),
    facts: [level, p, q, a, b, n],
  }
}
