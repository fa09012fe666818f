import {
  holm,
  mcnemarTest,
  obrienFleming,
  pairedDifference,
  requiredTasks,
  requiredTasksPaired,
  SequentialComparison,
  signFlips,
} from '../../../packages/quintain/src/stats/index.ts'
import type { RandomInputs } from '../random-inputs.ts'
import { drawDiscordant, drawGradedPair, drawPair, pairVariances, type TwoSides } from './population.ts'
import type { Scenario } from './scenario.ts'

const alarms = { counted: 'false alarms', nominal: 0.05 } as const
const found = { counted: 'found', nominal: 0.8 } as const

/** The planted difference, five points, and what it takes to find it. */
const planted = 0.05
const discordant = 0.2
const samplesEach = requiredTasksPaired(planted, { discordant }).value ?? 0
const design = { kind: 'paired', repeats: 4, ...pairVariances(planted) } as const
const tasksOfFour = requiredTasks(planted, design).value ?? 0

/** Significant, and with the right sign. */
const detects = ({ a, b }: TwoSides): boolean => {
  const { p, difference } = pairedDifference(a, b)
  return p !== null && p <= 0.05 && (difference ?? 0) > 0
}
const alarmsAt = ({ a, b }: TwoSides): boolean => (pairedDifference(a, b).p ?? 1) <= 0.05

function discordantPairs({ a, b }: TwoSides): [number, number] {
  const pairs = [...a].map(([id, scores]) => scores[0]! - b.get(id)![0]!)
  return [pairs.filter((value) => value > 0).length, pairs.filter((value) => value < 0).length]
}

/** Adds task after task and stops as soon as it may. */
function sequentially(sides: TwoSides): 'continue' | 'higher' | 'lower' {
  const test = new SequentialComparison()
  for (const [id, scores] of sides.a) {
    const other = sides.b.get(id)!
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    test.add(mean(scores) - mean(other))
    if (test.p !== null && test.p <= 0.05) break
  }
  const { mean, p } = test.state()
  return p !== null && p <= 0.05 ? ((mean ?? 0) > 0 ? 'higher' : 'lower') : 'continue'
}

const looks = obrienFleming(5) ?? []

function crossesALook(differences: readonly number[]): boolean {
  return looks.some(({ fraction, z }) => {
    const seen = differences.slice(0, Math.round(fraction * differences.length))
    const mean = seen.reduce((sum, value) => sum + value, 0) / seen.length
    const squares = seen.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    return Math.abs(mean) >= z * Math.sqrt(squares / (seen.length - 1) / seen.length)
  })
}

const nothing = (tasks: number, repeats: number) => (random: RandomInputs) =>
  drawPair({ tasks, repeats, difference: 0 }, random)

export const testScenarios: readonly Scenario[] = [
  ...(
    [
      [8, 1],
      [30, 1],
      [30, 4],
      [100, 8],
    ] as const
  ).map(
    ([tasks, repeats]): Scenario => ({
      ...alarms,
      name: 'pairedDifference p, pass/fail',
      tasks,
      repeats,
      bounds: [0, 0.055],
      trial: (random) => alarmsAt(nothing(tasks, repeats)(random)),
    }),
  ),
  {
    ...alarms,
    name: 'pairedDifference p, graded (sampled flips)',
    tasks: 40,
    repeats: 2,
    bounds: [0.04, 0.058],
    trial: (random) => {
      const { a, b } = drawGradedPair({ tasks: 40, repeats: 2, difference: 0 }, random)
      return (pairedDifference(a, b, { draws: 999, seed: random.whole(0, 1e9) }).p ?? 1) <= 0.05
    },
  },
  {
    ...alarms,
    name: 'signFlips, long tails either way',
    tasks: 15,
    repeats: 1,
    bounds: [0.03, 0.055],
    trial: (random) => signFlips(random.list(15, () => random.normal() ** 3)).p <= 0.05,
  },
  ...(['p', 'midP'] as const).map(
    (which): Scenario => ({
      ...alarms,
      name: `mcnemarTest, ${which}`,
      tasks: 100,
      repeats: 1,
      bounds: which === 'p' ? [0, 0.05] : [0.02, 0.06],
      trial: (random) => {
        const pairs = discordantPairs(drawDiscordant({ tasks: 100, discordant: 0.3, difference: 0 }, random))
        return (mcnemarTest(...pairs)?.[which] ?? 1) <= 0.05
      },
    }),
  ),
  {
    ...alarms,
    name: 'SequentialComparison, looked at after each of 500',
    tasks: 500,
    repeats: 1,
    bounds: [0, 0.05],
    trial: (random) =>
      sequentially(drawDiscordant({ tasks: 500, discordant: 0.3, difference: 0 }, random)) !== 'continue',
  },
  {
    ...alarms,
    name: 'SequentialComparison, graded',
    tasks: 200,
    repeats: 2,
    bounds: [0, 0.05],
    trial: (random) =>
      sequentially(drawGradedPair({ tasks: 200, repeats: 2, difference: 0 }, random)) !== 'continue',
  },
  {
    ...alarms,
    name: 'obrienFleming, five looks',
    tasks: 300,
    repeats: 1,
    bounds: [0.03, 0.06],
    trial: (random) => {
      const { a, b } = drawGradedPair({ tasks: 300, repeats: 1, difference: 0 }, random)
      return crossesALook([...a].map(([id, scores]) => scores[0]! - b.get(id)![0]!))
    },
  },
  {
    ...alarms,
    name: 'holm, any of 4 comparisons of equals',
    tasks: 40,
    repeats: 2,
    bounds: [0, 0.055],
    trial: (random) => {
      const ps = random.list(4, () => {
        const { a, b } = nothing(40, 2)(random)
        return pairedDifference(a, b).p
      })
      return holm(ps).some((p) => p !== null && p <= 0.05)
    },
  },
  {
    ...found,
    name: 'planted 5 points, tasks by requiredTasksPaired',
    tasks: samplesEach,
    repeats: 1,
    bounds: [0.77, 0.84],
    trial: (random) =>
      detects(drawDiscordant({ tasks: samplesEach, discordant, difference: planted }, random)),
  },
  {
    ...alarms,
    name: 'planted 0 points, tasks by requiredTasksPaired',
    tasks: samplesEach,
    repeats: 1,
    bounds: [0, 0.055],
    trial: (random) => alarmsAt(drawDiscordant({ tasks: samplesEach, discordant, difference: 0 }, random)),
  },
  {
    ...found,
    name: 'planted 5 points, tasks by requiredTasks',
    tasks: tasksOfFour,
    repeats: 4,
    bounds: [0.77, 0.83],
    trial: (random) => detects(drawPair({ tasks: tasksOfFour, repeats: 4, difference: planted }, random)),
  },
  {
    ...alarms,
    name: 'planted 0 points, tasks by requiredTasks',
    tasks: tasksOfFour,
    repeats: 4,
    bounds: [0.035, 0.06],
    trial: (random) => alarmsAt(nothing(tasksOfFour, 4)(random)),
  },
  {
    ...found,
    name: 'planted 5 points, one at a time, up to twice the tasks',
    tasks: 2 * tasksOfFour,
    repeats: 4,
    bounds: [0.8, 1],
    trial: (random) =>
      sequentially(drawPair({ tasks: 2 * tasksOfFour, repeats: 4, difference: planted }, random)) ===
      'higher',
  },
]
