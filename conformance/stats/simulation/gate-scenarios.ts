import { regressionOf } from '../../../packages/quintain/src/report/regression.ts'
import { boundedMeanTest, pairedDifference, signFlips } from '../../../packages/quintain/src/stats/index.ts'
import type { RandomInputs } from '../random-inputs.ts'
import { drawPair, type TwoSides } from './population.ts'
import { holds, type Scenario } from './scenario.ts'

const alarms = { counted: 'false alarms', nominal: 0.05 } as const
const found = { counted: 'found', nominal: 0.8 } as const
const range = [-1, 1] as const

/**
 * The hard case of a test of the mean: a share `gained` of the tasks goes from never to always, and the others, solved always, lose
 * so much that the mean stays, less `loss`. In thirty tasks the gain may be missed, and then all that is seen is loss.
 */
function drawSkewed(
  {
    tasks,
    repeats,
    gained = 0.1,
    loss = 0,
  }: { tasks: number; repeats: number; gained?: number; loss?: number },
  random: RandomInputs,
): TwoSides {
  const after = 1 - (gained + loss) / (1 - gained)
  const sides: TwoSides = { a: new Map(), b: new Map() }
  for (let i = 0; i < tasks; i++) {
    const wins = random.rng.next() < gained
    sides.b.set(
      `t${i}`,
      random.list(repeats, () => Number(!wins)),
    )
    sides.a.set(
      `t${i}`,
      random.list(repeats, () => Number(random.rng.next() < (wins ? 1 : after))),
    )
  }
  return sides
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const differencesOf = ({ a, b }: TwoSides) => [...a].map(([id, scores]) => mean(scores) - mean(b.get(id)!))
const pOfLoss = (sides: TwoSides, margin = 0) =>
  boundedMeanTest(differencesOf(sides), { mean: -margin, range })?.pBelow ?? 1

/** What the gate would go by if the differences were known to be symmetric. */
function pOfFlips(sides: TwoSides): number {
  const differences = differencesOf(sides)
  return mean(differences) < 0 ? signFlips(differences).p / 2 : 1
}

const sizes = [
  [10, 4],
  [20, 4],
  [30, 4],
  [50, 4],
] as const

/** The loss that the gate says it catches where tasks differ as those of `drawLoss` do. */
function lossCaught(tasks: number, repeats: number): number {
  const spread = Math.sqrt(stray ** 2 + (2 * 0.225) / repeats)
  const differences = Array.from({ length: tasks }, (_, i) => (i % 2 === 0 ? spread : -spread))
  return regressionOf([{ differences, worst: differences.map(() => -1), largest: 1 }], {})[0]!.catches ?? 1
}

/** How far single tasks stray from the loss, either way. */
const stray = 0.15

/** A loss of `loss`: rates of 0.4 to 0.85 before, whose tries vary by 0.22 or so. */
function drawLoss(tasks: number, repeats: number, loss: number, random: RandomInputs): TwoSides {
  const sides: TwoSides = { a: new Map(), b: new Map() }
  for (let i = 0; i < tasks; i++) {
    const rate = random.real(0.4, 0.85)
    const other = rate - loss + (random.rng.next() < 0.5 ? stray : -stray)
    const side = (of: number) => random.list(repeats, () => Number(random.rng.next() < of))
    sides.a.set(`t${i}`, side(other))
    sides.b.set(`t${i}`, side(rate))
  }
  return sides
}

export const gateScenarios: readonly Scenario[] = [
  ...(
    [
      [20, 4],
      [30, 4],
      [50, 4],
      [100, 4],
    ] as const
  ).map(
    ([tasks, repeats]): Scenario => ({
      counted: 'covered',
      nominal: 0.95,
      name: 'pairedDifference, 1 task in 20 gains all, the rest pays',
      tasks,
      repeats,
      bounds: [0.75, 1],
      trial: (random) => {
        const { a, b } = drawSkewed({ tasks, repeats, gained: 0.05 }, random)
        return holds(pairedDifference(a, b, { draws: 99 }).interval, 0)
      },
    }),
  ),
  ...sizes.map(
    ([tasks, repeats]): Scenario => ({
      ...alarms,
      name: 'pairedDifference p, 1 task in 10 gains all, the rest pays',
      tasks,
      repeats,
      bounds: [0, 0.15],
      trial: (random) => {
        const { a, b } = drawSkewed({ tasks, repeats }, random)
        return (pairedDifference(a, b).p ?? 1) <= 0.05
      },
    }),
  ),
  ...sizes.map(
    ([tasks, repeats]): Scenario => ({
      ...alarms,
      name: 'boundedMeanTest, 1 task in 10 gains all, the rest pays',
      tasks,
      repeats,
      bounds: [0, 0.05],
      trial: (random) => pOfLoss(drawSkewed({ tasks, repeats }, random)) <= 0.05,
    }),
  ),
  ...sizes.map(
    ([tasks, repeats]): Scenario => ({
      ...alarms,
      name: 'boundedMeanTest, the same, with a loss of 10 points that is allowed',
      tasks,
      repeats,
      bounds: [0, 0.05],
      trial: (random) => pOfLoss(drawSkewed({ tasks, repeats, loss: 0.1 }, random), 0.1) <= 0.05,
    }),
  ),
  ...(
    [
      [10, 4],
      [30, 1],
      [30, 4],
      [100, 4],
    ] as const
  ).map(
    ([tasks, repeats]): Scenario => ({
      ...alarms,
      name: 'boundedMeanTest, pass/fail',
      tasks,
      repeats,
      bounds: [0, 0.05],
      trial: (random) => pOfLoss(drawPair({ tasks, repeats, difference: 0 }, random)) <= 0.05,
    }),
  ),
  ...(['boundedMeanTest', 'signFlips, one-sided'] as const).flatMap((test) =>
    (
      [
        [30, 4],
        [100, 1],
        [100, 4],
        [400, 4],
      ] as const
    ).map(
      ([tasks, repeats]): Scenario => ({
        ...found,
        name: `${test}, a loss of the size that the gate says it catches`,
        tasks,
        repeats,
        bounds: [0.75, 0.95],
        trial: (random) => {
          const sides = drawLoss(tasks, repeats, lossCaught(tasks, repeats), random)
          return (test === 'boundedMeanTest' ? pOfLoss(sides) : pOfFlips(sides)) <= 0.05
        },
      }),
    ),
  ),
]
