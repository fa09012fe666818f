import {
  discordantEValue,
  mcnemarPower,
  obrienFleming,
  powerOf,
  requiredTasks,
  requiredTasksPaired,
  SequentialComparison,
  smallestDetectable,
} from '../../packages/quintain/src/stats/index.ts'
import type { Check } from './check.ts'

/** Variance one, so that a difference is its own standardised effect. */
const unit = { kind: 'constant', between: 1, within: 0, repeats: 1 } as const

export const planning: Check[] = [
  {
    estimator: 'powerOf',
    against: 'statsmodels TTestPower.power',
    cases: 150,
    tolerance: 1e-7,
    compare(random) {
      const [effect, tasks] = [random.real(0.02, 1.5), random.whole(2, 300)]
      const alpha = random.real(0.001, 0.2)
      return {
        ours: powerOf(effect, tasks, unit, { alpha }).value,
        reference: ['power', { effect, tasks, alpha }],
      }
    },
  },
  {
    estimator: 'smallestDetectable',
    against: 'statsmodels TTestPower: has the power',
    cases: 60,
    tolerance: 1e-7,
    compare(random) {
      const [tasks, alpha, power] = [random.whole(4, 500), random.real(0.01, 0.2), random.real(0.5, 0.95)]
      const effect = smallestDetectable(tasks, unit, { alpha, power }).value
      return { ours: power, reference: ['power', { effect, tasks, alpha }] }
    },
  },
  {
    estimator: 'requiredTasks',
    against: 'statsmodels TTestPower.solve_power',
    cases: 60,
    tolerance: 0,
    compare(random) {
      const [effect, alpha, power] = [random.real(0.1, 1), random.real(0.01, 0.2), random.real(0.5, 0.95)]
      const ours = requiredTasks(effect, unit, { alpha, power }).value
      return { ours, reference: ['required', { effect, alpha, power }] }
    },
  },
  {
    estimator: 'mcnemarPower',
    against: 'every outcome, scipy.stats.binom',
    cases: 40,
    tolerance: 1e-9,
    compare(random) {
      const discordant = random.real(0.05, 1)
      const [difference, tasks] = [discordant * random.rng.next(), random.whole(1, 150)]
      const alpha = random.real(0.005, 0.2)
      const ours = mcnemarPower(difference, tasks, { discordant, alpha }).value
      return { ours, reference: ['mcnemar_power', { difference, tasks, discordant, alpha }] }
    },
  },
  {
    estimator: 'requiredTasksPaired',
    against: 'formula, and a search by binom',
    cases: 5,
    tolerance: 0,
    compare(random) {
      const discordant = random.real(0.2, 0.6)
      const difference = discordant * random.real(0.45, 0.9)
      const ours = (['formula', 'exact'] as const).map(
        (test) => requiredTasksPaired(difference, { discordant, test }).value,
      )
      return { ours, reference: ['mcnemar_required', { difference, discordant }] }
    },
  },
  {
    estimator: 'SequentialComparison',
    against: 'formula, scipy.optimize.brentq',
    cases: 40,
    tolerance: 1e-8,
    compare(random) {
      // Fewer than would decide, so that the interval is the one of this moment.
      const graded = random.rng.next() < 0.5
      const differences = random.list(random.whole(2, 40), () =>
        graded ? random.real(-1, 1) : random.whole(-1, 1),
      )
      const test = new SequentialComparison({ level: 0.999 })
      for (const difference of differences) test.add(difference)
      const { p, interval } = test.state()
      return { ours: [p, ...interval!], reference: ['sequential', { differences, level: 0.999 }] }
    },
  },
  {
    estimator: 'discordantEValue',
    against: 'scipy.special.betaln',
    cases: 200,
    tolerance: 1e-9,
    relative: true,
    compare(random) {
      const [wins, losses] = [random.whole(0, 200), random.whole(0, 200)]
      return { ours: discordantEValue(wins, losses), reference: ['discordant_e', { wins, losses }] }
    },
  },
  {
    estimator: 'obrienFleming',
    against: 'scipy multivariate_normal: crosses at alpha',
    cases: 12,
    tolerance: 2e-5,
    compare(random) {
      const looks = random.whole(1, 4)
      const alpha = random.real(0.01, 0.1)
      const cuts = random.list(looks - 1, () => random.real(0.1, 0.9)).sort((x, y) => x - y)
      const found = obrienFleming([...cuts, 1], alpha) ?? []
      const [bounds, fractions] = [found.map(({ z }) => z), found.map(({ fraction }) => fraction)]
      return { ours: alpha, reference: ['crossing', { bounds, fractions }] }
    },
  },
]
