import {
  betaCdf,
  betaQuantile,
  noncentralTCdf,
  normalCdf,
  normalQuantile,
  quantile,
  studentTCdf,
  studentTQuantile,
} from '../../packages/quintain/src/stats/index.ts'
import type { Check } from './check.ts'

export const distributions: Check[] = [
  {
    estimator: 'normalCdf',
    against: 'scipy.stats.norm.cdf',
    cases: 500,
    tolerance: 1e-12,
    relative: true,
    compare(random) {
      const x = random.real(-30, 8)
      return { ours: normalCdf(x), reference: ['normal_cdf', { x }] }
    },
  },
  {
    estimator: 'normalQuantile',
    against: 'scipy.stats.norm.ppf',
    cases: 500,
    tolerance: 1e-12,
    compare(random) {
      const p = random.rng.next() < 0.5 ? random.magnitude(1e-200, 1) : random.real(0.001, 0.999)
      return { ours: normalQuantile(p), reference: ['normal_quantile', { p }] }
    },
  },
  {
    estimator: 'studentTCdf',
    against: 'scipy.stats.t.cdf',
    cases: 500,
    tolerance: 1e-9,
    relative: true,
    compare(random) {
      const [t, df] = [random.real(-20, 5), random.magnitude(0.5, 1e4)]
      return { ours: studentTCdf(t, df), reference: ['t_cdf', { t, df }] }
    },
  },
  {
    estimator: 'studentTQuantile',
    against: 'scipy.stats.t.ppf',
    cases: 300,
    tolerance: 1e-8,
    compare(random) {
      const [p, df] = [random.real(0.0005, 0.9995), random.magnitude(0.8, 1e4)]
      return { ours: studentTQuantile(p, df), reference: ['t_quantile', { p, df }] }
    },
  },
  {
    estimator: 'betaCdf',
    against: 'scipy.special.betainc',
    cases: 500,
    tolerance: 1e-9,
    compare(random) {
      const [x, a, b] = [random.real(0, 1), random.magnitude(0.3, 3000), random.magnitude(0.3, 3000)]
      return { ours: betaCdf(x, a, b), reference: ['beta_cdf', { x, a, b }] }
    },
  },
  {
    estimator: 'betaQuantile',
    against: 'scipy.special.betaincinv',
    cases: 200,
    tolerance: 1e-8,
    compare(random) {
      const [p, a, b] = [random.real(0.001, 0.999), random.magnitude(0.5, 1000), random.magnitude(0.5, 1000)]
      return { ours: betaQuantile(p, a, b), reference: ['beta_quantile', { p, a, b }] }
    },
  },
  {
    estimator: 'noncentralTCdf',
    against: 'scipy.stats.nct.cdf',
    cases: 300,
    tolerance: 1e-8,
    compare(random) {
      const [t, df, ncp] = [random.real(-4, 12), random.magnitude(1, 2000), random.real(-5, 10)]
      return { ours: noncentralTCdf(t, df, ncp), reference: ['noncentral_t_cdf', { t, df, ncp }] }
    },
  },
  {
    estimator: 'quantile',
    against: 'numpy.quantile',
    cases: 200,
    tolerance: 1e-12,
    compare(random) {
      const values = random.list(random.whole(1, 40), () => random.normal())
      const q = random.rng.next()
      return {
        ours: quantile(
          values.toSorted((x, y) => x - y),
          q,
        ),
        reference: ['quantile', { values, q }],
      }
    },
  },
]
