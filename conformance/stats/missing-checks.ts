import { meanBounds, pairedBounds } from '../../packages/quintain/src/stats/index.ts'
import { type Check, ids } from './check.ts'

export const missing: Check[] = [
  {
    estimator: 'meanBounds',
    against: 'statsmodels OLS on filled scores',
    cases: 100,
    tolerance: 1e-8,
    compare(random) {
      const whole = random.uneven({ tasks: random.whole(3, 20), binary: true })
      const groups = whole.map((scores) => scores.map((score) => (random.rng.next() < 0.15 ? null : score)))
      const { low, high, interval } = meanBounds(groups, { range: [0, 1] })
      if (interval === null) return this.compare(random)
      return { ours: [low, high, ...interval], reference: ['mean_bounds', { groups, low: 0, high: 1 }] }
    },
  },
  {
    estimator: 'pairedBounds',
    against: 'NumPy on filled scores',
    cases: 100,
    tolerance: 1e-10,
    compare(random) {
      const side = (tasks: number) =>
        random.list(tasks, () =>
          random.list(random.whole(1, 5), () => (random.rng.next() < 0.15 ? null : random.real(-1, 2))),
        )
      const tasks = random.whole(1, 20)
      const [a, b] = [side(tasks), side(tasks)]
      const { low, high } = pairedBounds(ids(a), ids(b), { range: [-1, 2] })
      return { ours: [low, high], reference: ['paired_bounds', { a, b, low: -1, high: 2 }] }
    },
  },
]
