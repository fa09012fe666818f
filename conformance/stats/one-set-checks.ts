import { bootstrapDraws, drawnFrom } from '../../packages/quintain/src/stats/bootstrap-draws.ts'
import {
  bootstrapInterval,
  clopperPearsonInterval,
  clusteredMean,
  clusteredProportion,
  mean,
  passAtK,
  passHatK,
  repeatMean,
  standardError,
  varianceSplit,
  wilsonInterval,
} from '../../packages/quintain/src/stats/index.ts'
import { type Check, monteCarlo } from './check.ts'

export const oneSet: Check[] = [
  {
    estimator: 'mean',
    against: 'math.fsum',
    cases: 200,
    tolerance: 1e-14,
    compare(random) {
      const values = random.list(random.whole(1, 60), () => random.normal() * 10 ** random.whole(-8, 8))
      return { ours: mean(values).mean, reference: ['mean', { values }] }
    },
  },
  {
    estimator: 'standardError',
    against: 'scipy.stats.sem, t.interval',
    cases: 200,
    tolerance: 1e-9,
    compare(random) {
      const values = random.list(random.whole(2, 40), () => random.normal())
      const { stderr, interval } = standardError(values)
      return { ours: [stderr, ...interval!], reference: ['standard_error', { values }] }
    },
  },
  ...(['C/(C-1)', 'none'] as const).map(
    (correction): Check => ({
      estimator: `clusteredMean (${correction})`,
      against: 'statsmodels OLS, cov_type=cluster',
      cases: 150,
      tolerance: 1e-8,
      compare(random) {
        const groups = random.uneven({ tasks: random.whole(2, 30), binary: random.rng.next() < 0.5 })
        const at = random.real(0.5, 0.99)
        const found = clusteredMean(groups, { correction, level: at })
        return {
          ours: [found.mean, found.stderr, ...found.interval!],
          reference: ['clustered_mean', { groups, correct: correction !== 'none', level: at }],
        }
      },
    }),
  ),
  {
    estimator: 'clusteredProportion',
    against: 'formula, statsmodels SE',
    cases: 150,
    tolerance: 1e-8,
    compare(random) {
      for (;;) {
        const groups = random.uneven({ tasks: random.whole(3, 30), binary: true })
        const { method, interval } = clusteredProportion(groups)
        if (method === 'wilson_effective_n')
          return { ours: interval, reference: ['clustered_proportion', { groups }] }
      }
    },
  },
  ...(['wilson', 'clopper_pearson'] as const).map(
    (method): Check => ({
      estimator: method === 'wilson' ? 'wilsonInterval' : 'clopperPearsonInterval',
      against: `statsmodels proportion_confint`,
      cases: 300,
      tolerance: 1e-9,
      compare(random) {
        const n = Math.round(random.magnitude(1, 3000))
        const [k, at] = [random.whole(0, n), random.real(0.5, 0.999)]
        const ours = (method === 'wilson' ? wilsonInterval : clopperPearsonInterval)(k, n, at)
        return { ours, reference: [method, { k, n, level: at }] }
      },
    }),
  ),
  {
    estimator: 'repeatMean',
    against: 'formula, NumPy',
    cases: 150,
    tolerance: 1e-8,
    compare(random) {
      for (;;) {
        const groups = random.tasks({ tasks: random.whole(1, 30), binary: true, repeats: random.whole(2, 8) })
        const { stderr, interval } = repeatMean(groups)
        if (interval !== null) return { ours: [stderr, ...interval], reference: ['repeat_mean', { groups }] }
      }
    },
  },
  {
    estimator: 'varianceSplit',
    against: 'formula, NumPy',
    cases: 150,
    tolerance: 1e-10,
    compare(random) {
      for (;;) {
        const groups = random.tasks({ tasks: random.whole(2, 30), binary: random.rng.next() < 0.5 })
        const { between, within } = varianceSplit(groups)
        if (between !== null) return { ours: [between, within], reference: ['variance_split', { groups }] }
      }
    },
  },
  ...([passAtK, passHatK] as const).map(
    (estimator): Check => ({
      estimator: estimator.name,
      against: 'whole-number binomials',
      cases: 300,
      tolerance: 1e-11,
      compare(random) {
        const n = random.whole(1, 200)
        const [c, k] = [random.whole(0, n), random.whole(1, n)]
        const name = estimator === passAtK ? 'pass_at_k' : 'pass_hat_k'
        return { ours: estimator(n, c, k).value, reference: [name, { n, c, k }] }
      },
    }),
  ),
  {
    estimator: 'bootstrapInterval, same draws',
    against: 'formula, NumPy: percentile and BCa',
    cases: 60,
    tolerance: 1e-8,
    compare(random) {
      const groups = random.uneven({ tasks: random.whole(4, 25), binary: random.rng.next() < 0.5 })
      const [seed, resamples] = [random.whole(1, 1e6), 400]
      const drawn = bootstrapDraws(drawnFrom(groups), { resamples, seed }).next().value!
      const found = (['percentile', 'bca'] as const).flatMap(
        (method) => bootstrapInterval(groups, { method, seed, resamples }).interval!,
      )
      return { ours: found, reference: ['bootstrap_of_draws', { groups, draws: [...drawn], level: 0.95 }] }
    },
  },
  ...(['percentile', 'bca'] as const).map(
    (method): Check => ({
      estimator: `bootstrapInterval, ${method}`,
      against: 'scipy.stats.bootstrap, own draws',
      cases: 6,
      tolerance: monteCarlo,
      compare(random) {
        const values = random.list(random.whole(15, 40), () => random.rng.next() ** 3)
        const { interval } = bootstrapInterval(
          values.map((value) => [value]),
          { method, resamples: 20_000 },
        )
        const name = method === 'bca' ? 'BCa' : 'percentile'
        return { ours: interval, reference: ['bootstrap', { values, method: name, seed: 7 }] }
      },
    }),
  ),
]
