import {
  bootstrapInterval,
  clopperPearsonInterval,
  clusteredMean,
  clusteredProportion,
  pairedAgain,
  pairedBounds,
  pairedDifference,
  passHatK,
  passInterval,
  repeatMean,
  SequentialComparison,
  wilsonInterval,
} from '../../../packages/quintain/src/stats/index.ts'
import {
  drawDiscordant,
  drawGradedPair,
  drawPair,
  drawTasks,
  easy,
  graded,
  type Population,
  skewed,
  spread,
  type TwoSides,
} from './population.ts'
import { holds, type Scenario } from './scenario.ts'

const covered = { counted: 'covered', nominal: 0.95 } as const

/** Tasks and repeats that users have: few of both, and more. */
const sizes = [
  [10, 1],
  [10, 4],
  [30, 1],
  [30, 4],
  [30, 8],
  [100, 2],
] as const

function newTasks(population: Population, bounds: readonly [number, number], name: string): Scenario[] {
  const interval = name === 'clusteredProportion' ? clusteredProportion : clusteredMean
  return sizes.map(([tasks, repeats]) => ({
    ...covered,
    name: `${name}, ${population.name}`,
    tasks,
    repeats,
    bounds,
    trial: (random) =>
      holds(interval(drawTasks(population, { tasks, repeats }, random)).interval, population.mean),
  }))
}

/** Only the interval is asked for, so few flips will do. */
const differenceOfSides = ({ a, b }: TwoSides) => pairedDifference(a, b, { draws: 99 }).interval

/** The mean of K tries of a task, all of which pass with chance p, over p even in 0-1: 1/(K + 1). */
const allOfFour = 1 / 5

export const intervalScenarios: readonly Scenario[] = [
  ...newTasks(spread, [0.93, 0.99], 'clusteredProportion'),
  ...newTasks(easy, [0.92, 0.99], 'clusteredProportion'),
  ...newTasks(graded, [0.93, 0.97], 'clusteredMean'),
  ...newTasks(skewed, [0.86, 0.96], 'clusteredMean'),
  ...[wilsonInterval, clopperPearsonInterval].map(
    (interval): Scenario => ({
      ...covered,
      name: `${interval.name}, pass/fail at 10 %`,
      tasks: 30,
      repeats: 1,
      bounds: interval === wilsonInterval ? [0.93, 0.99] : [0.95, 1],
      trial: (random) => {
        const k = random.list(30, () => Number(random.rng.next() < 0.1)).reduce((sum, one) => sum + one, 0)
        return holds(interval(k, 30), 0.1)
      },
    }),
  ),
  ...sizes.map(
    ([tasks, repeats]): Scenario => ({
      ...covered,
      name: 'pairedDifference, pass/fail',
      tasks,
      repeats,
      bounds: [0.93, 0.985],
      trial: (random) =>
        holds(differenceOfSides(drawPair({ tasks, repeats, difference: 0.05 }, random)), 0.05),
    }),
  ),
  ...[10, 30, 100].map(
    (tasks): Scenario => ({
      ...covered,
      name: 'pairedDifference, pass/fail, 1 task in 10 differs',
      tasks,
      repeats: 1,
      bounds: [0.94, 1],
      trial: (random) =>
        holds(differenceOfSides(drawDiscordant({ tasks, discordant: 0.1, difference: 0.05 }, random)), 0.05),
    }),
  ),
  ...sizes.map(
    ([tasks, repeats]): Scenario => ({
      ...covered,
      name: 'pairedDifference, graded',
      tasks,
      repeats,
      bounds: [0.93, 0.97],
      trial: (random) =>
        holds(differenceOfSides(drawGradedPair({ tasks, repeats, difference: 0.05 }, random)), 0.05),
    }),
  ),
  ...(
    [
      [10, 4],
      [30, 4],
      [100, 4],
    ] as const
  ).map(
    ([tasks, repeats]): Scenario => ({
      ...covered,
      name: 'pairedDifference, pass/fail, all of the gain in 15 % of the tasks',
      tasks,
      repeats,
      bounds: [0.88, 1],
      trial: (random) => {
        const rates = random.list(tasks, () => (random.rng.next() < 0.15 ? [0.9, 0.2] : [1, 1]))
        const side = (at: number) =>
          new Map(
            rates.map((rate, i): [string, number[]] => [
              `t${i}`,
              random.list(repeats, () => Number(random.rng.next() < rate[at]!)),
            ]),
          )
        return holds(pairedDifference(side(0), side(1)).interval, 0.15 * 0.7)
      },
    }),
  ),
  {
    ...covered,
    name: 'pairedDifference, tasks in groups of 5',
    tasks: 100,
    repeats: 1,
    bounds: [0.93, 0.97],
    trial: (random) => {
      const a = new Map<string, number>()
      const clusters = new Map<string, string>()
      for (let group = 0; group < 20; group++) {
        const shared = random.normal()
        for (let i = 0; i < 5; i++) {
          a.set(`${group}/${i}`, shared + random.normal())
          clusters.set(`${group}/${i}`, `g${group}`)
        }
      }
      const b = new Map([...a.keys()].map((id) => [id, 0]))
      return holds(pairedDifference(a, b, { clusters, draws: 99 }).interval, 0)
    },
  },
  ...(['percentile', 'bca'] as const).flatMap((method) =>
    [20, 50].map(
      (tasks): Scenario => ({
        ...covered,
        name: `bootstrapInterval (${method}), graded`,
        tasks,
        repeats: 2,
        bounds: [0.91, 0.97],
        trial: (random) => {
          const drawn = drawTasks(graded, { tasks, repeats: 2 }, random)
          return holds(
            bootstrapInterval(drawn, { method, resamples: 500, seed: random.whole(0, 1e9) }).interval,
            0.5,
          )
        },
      }),
    ),
  ),
  ...[30, 100].map(
    (tasks): Scenario => ({
      ...covered,
      name: 'passInterval, pass^4',
      tasks,
      repeats: 8,
      bounds: [0.91, 0.97],
      trial: (random) => {
        const drawn = drawTasks(spread, { tasks, repeats: 8 }, random)
        const trials = Object.fromEntries(drawn.map((scores, i) => [`t${i}`, scores]))
        const options = { resamples: 500, seed: random.whole(0, 1e9) }
        return holds(passInterval(passHatK, trials, 4, options).interval, allOfFour)
      },
    }),
  ),
  ...[2, 4, 8].map(
    (repeats): Scenario => ({
      ...covered,
      name: 'repeatMean, these tasks again',
      tasks: 30,
      repeats,
      bounds: [0.93, 0.97],
      trial: (random) => {
        const rates = random.list(30, (i) => (i + 0.5) / 30)
        const tasks = rates.map((rate) => random.list(repeats, () => Number(random.rng.next() < rate)))
        return holds(repeatMean(tasks).interval, 0.5)
      },
    }),
  ),
  ...[2, 4, 8].map(
    (repeats): Scenario => ({
      ...covered,
      name: 'pairedAgain, these tasks again',
      tasks: 30,
      repeats,
      bounds: [0.93, 0.97],
      trial: (random) => {
        const side = (shift: number) =>
          new Map(
            random.list(30, (i): [string, number[]] => [
              `t${i}`,
              random.list(repeats, () => Number(random.rng.next() < 0.1 + (0.7 * i) / 30 + shift)),
            ]),
          )
        return holds(pairedAgain(side(0.05), side(0)).interval, 0.05)
      },
    }),
  ),
  {
    ...covered,
    name: 'SequentialComparison, at all of 300 tasks at once',
    tasks: 300,
    repeats: 1,
    bounds: [0.95, 1],
    trial: (random) => {
      const { a, b } = drawDiscordant({ tasks: 300, discordant: 0.3, difference: 0.1 }, random)
      const test = new SequentialComparison()
      let seen = 0
      for (const [id, scores] of a) {
        test.add(scores[0]! - b.get(id)![0]!)
        seen++
        if (seen % 20 === 0 && !holds(test.state().interval, 0.1)) return false
      }
      return true
    },
  },
  {
    ...covered,
    name: 'pairedBounds, losing what one side fails at',
    tasks: 50,
    repeats: 2,
    bounds: [0.95, 1],
    trial: (random) => {
      const { a, b } = drawPair({ tasks: 50, repeats: 2, difference: 0.05 }, random)
      // Half of a's failures never come back: what is left looks better than it is.
      const left = new Map(
        [...a].map(([id, scores]): [string, (number | null)[]] => [
          id,
          scores.map((score) => (score === 0 && random.rng.next() < 0.5 ? null : score)),
        ]),
      )
      return holds(pairedBounds(left, b, { range: [0, 1] }).interval, 0.05)
    },
  },
]
