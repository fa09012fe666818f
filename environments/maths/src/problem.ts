import type { Rng } from 'quintain'

/** From small numbers and few steps to large numbers and many. */
export type Level = 1 | 2 | 3

/** A generated problem. */
export interface Problem {
  /** What is asked, as the agent reads it. */
  question: string
  /** The gold answer in LaTeX, in its simplest form. */
  answer: string
  /** The numbers that it was made from, from which the answer can be worked out in another way. */
  facts: readonly number[]
  /** An expression of the question that has the value of the answer: to say it again is no answer. */
  echo?: string
}

export type Generator = (rng: Rng, level: Level) => Problem

/** A whole number of `from` to `to`, both included. */
export function between(rng: Rng, from: number, to: number): number {
  return from + rng.int(to - from + 1)
}

/** A whole number of that size at most, never 0. */
export function nonZero(rng: Rng, most: number): number {
  return between(rng, 1, most) * rng.pick([1, -1])
}
