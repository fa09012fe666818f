import type { RandomInputs } from '../random-inputs.ts'

/** Where tasks come from: the success rates of tasks that differ, and how a task with a rate is scored. */
export interface Population {
  name: string
  /** Mean score over all tasks there could be. */
  mean: number
  rate(random: RandomInputs): number
  score(rate: number, random: RandomInputs): number
}

const passes = (rate: number, random: RandomInputs) => Number(random.rng.next() < rate)

/** Success rates spread evenly from 0 to 1. */
export const spread: Population = {
  name: 'pass/fail, rates even in 0-1',
  mean: 0.5,
  rate: (random) => random.rng.next(),
  score: passes,
}

/** Most tasks nearly always pass, some nearly never: the hard case, rates near the ends. */
export const easy: Population = {
  name: 'pass/fail, 4 of 5 tasks pass 95 %, others 30 %',
  mean: 0.82,
  rate: (random) => (random.rng.next() < 0.8 ? 0.95 : 0.3),
  score: passes,
}

/** Graded from 0 to 1: the mean of the rate and of an even draw, so tasks and repeats both vary. */
export const graded: Population = {
  name: 'graded 0-1',
  mean: 0.5,
  rate: (random) => random.rng.next(),
  score: (rate, random) => (rate + random.rng.next()) / 2,
}

/** Rewards below zero and a long tail above. */
export const skewed: Population = {
  name: 'graded -1 to 9, long tail',
  mean: 1.5,
  rate: (random) => 10 * random.rng.next() ** 3 - 1,
  score: (rate, random) => rate + random.real(-1, 1),
}

/** Scores of new tasks from a population. */
export function drawTasks(
  population: Population,
  { tasks, repeats }: { tasks: number; repeats: number },
  random: RandomInputs,
): number[][] {
  return random.list(tasks, () => {
    const rate = population.rate(random)
    return random.list(repeats, () => population.score(rate, random))
  })
}

/** Two policies on the same tasks: scores by task id. */
export interface TwoSides {
  a: Map<string, number[]>
  b: Map<string, number[]>
}

/** How far single tasks stray from the mean difference, either way. */
const stray = 0.15

/**
 * Pass or fail of two policies on new tasks. Rates of b are even in 0.2-0.8; a's are higher by `difference`, give or
 * take 0.15, so that some tasks get worse. `difference` may be up to 0.05.
 */
export function drawPair(
  { tasks, repeats, difference }: { tasks: number; repeats: number; difference: number },
  random: RandomInputs,
): TwoSides {
  const a = new Map<string, number[]>()
  const b = new Map<string, number[]>()
  for (let i = 0; i < tasks; i++) {
    const rate = random.real(0.2, 0.8)
    const other = rate + difference + (random.rng.next() < 0.5 ? stray : -stray)
    a.set(
      `t${i}`,
      random.list(repeats, () => passes(other, random)),
    )
    b.set(
      `t${i}`,
      random.list(repeats, () => passes(rate, random)),
    )
  }
  return { a, b }
}

/** The variances of `drawPair`, by integration. */
export function pairVariances(difference: number): { between: number; within: number; withinOther: number } {
  const [mean, square] = [0.5, 0.5 ** 2 + 0.6 ** 2 / 12]
  const squareOfA = square + 2 * mean * difference + difference ** 2 + stray ** 2
  return { between: stray ** 2, within: mean + difference - squareOfA, withinOther: mean - square }
}

/** Pass or fail, one sample each: a share `discordant` of the tasks differs, and a wins more of those by `difference` of all. */
export function drawDiscordant(
  { tasks, discordant, difference }: { tasks: number; discordant: number; difference: number },
  random: RandomInputs,
): TwoSides {
  const a = new Map<string, number[]>()
  const b = new Map<string, number[]>()
  for (let i = 0; i < tasks; i++) {
    const place = random.rng.next()
    const first = place < (discordant + difference) / 2
    const differs = place < discordant
    const same = random.rng.next() < 0.5 ? 1 : 0
    a.set(`t${i}`, [differs ? Number(first) : same])
    b.set(`t${i}`, [differs ? Number(!first) : same])
  }
  return { a, b }
}

/** A difference of graded scores, -1 to 1, with a mean. */
export function drawGradedPair(
  { tasks, repeats, difference }: { tasks: number; repeats: number; difference: number },
  random: RandomInputs,
): TwoSides {
  const a = new Map<string, number[]>()
  const b = new Map<string, number[]>()
  for (let i = 0; i < tasks; i++) {
    const rate = random.rng.next()
    a.set(
      `t${i}`,
      random.list(repeats, () => (rate + random.rng.next()) / 2 + difference),
    )
    b.set(
      `t${i}`,
      random.list(repeats, () => (rate + random.rng.next()) / 2),
    )
  }
  return { a, b }
}
