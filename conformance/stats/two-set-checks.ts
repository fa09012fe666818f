import {
  benjaminiHochberg,
  boundedMeanTest,
  holm,
  mcnemarTest,
  pairedAgain,
  pairedDifference,
  signFlips,
} from '../../packages/quintain/src/stats/index.ts'
import { type Check, ids, monteCarlo } from './check.ts'

export const twoSets: Check[] = [
  {
    estimator: 'pairedDifference',
    against: 'scipy.stats.ttest_rel',
    cases: 150,
    tolerance: 1e-9,
    compare(random) {
      const n = random.whole(3, 40)
      const [a, b] = [random.list(n, () => random.normal()), random.list(n, () => random.normal())]
      const { difference, interval } = pairedDifference(ids(a), ids(b))
      return { ours: [difference, ...interval!], reference: ['paired_t', { a, b }] }
    },
  },
  {
    estimator: 'pairedDifference, clusters',
    against: 'statsmodels OLS, cov_type=cluster',
    cases: 150,
    tolerance: 1e-8,
    compare(random) {
      const groups = random.uneven({ tasks: random.whole(2, 12), binary: false })
      const tasks = groups.flatMap((group, g) => group.map((value) => ({ value, group: `g${g}` })))
      const { difference, stderr, interval } = pairedDifference(
        ids(tasks.map(({ value }) => value)),
        ids(tasks.map(() => 0)),
        { clusters: ids(tasks.map(({ group }) => group)) },
      )
      return { ours: [difference, stderr, ...interval!], reference: ['paired_clustered', { groups }] }
    },
  },
  {
    estimator: 'pairedDifference, pass or fail',
    against: 'formula of Bonett and Price',
    cases: 150,
    tolerance: 1e-9,
    compare(random) {
      const [b, c, same] = [random.whole(0, 12), random.whole(0, 12), random.whole(2, 40)]
      const sides = [
        ...random.list(b, () => [1, 0]),
        ...random.list(c, () => [0, 1]),
        ...random.list(same, () => [1, 1]),
      ]
      const { interval } = pairedDifference(
        ids(sides.map((side) => side[0]!)),
        ids(sides.map((side) => side[1]!)),
      )
      return { ours: interval, reference: ['bonett_price', { b, c, n: b + c + same }] }
    },
  },
  {
    estimator: 'pairedAgain, one task',
    against: 'scipy.stats.ttest_ind (Welch)',
    cases: 100,
    tolerance: 1e-8,
    compare(random) {
      const [a, b] = [
        random.list(random.whole(2, 9), () => random.normal()),
        random.list(5, () => random.normal()),
      ]
      return { ours: pairedAgain(ids([a]), ids([b])).interval, reference: ['welch', { a, b }] }
    },
  },
  {
    estimator: 'pairedAgain',
    against: 'formula, NumPy',
    cases: 100,
    tolerance: 1e-8,
    compare(random) {
      const options = { tasks: random.whole(2, 15), binary: false }
      const [a, b] = [
        random.tasks({ ...options, repeats: random.whole(2, 6) }),
        random.tasks({ ...options, repeats: 3 }),
      ]
      return { ours: pairedAgain(ids(a), ids(b)).interval, reference: ['paired_again', { a, b }] }
    },
  },
  {
    estimator: 'boundedMeanTest',
    against: 'partial fractions, exact',
    cases: 150,
    tolerance: 1e-9,
    relative: true,
    compare(random) {
      // Thousandths, so that the fractions are exact; all different, and not where their own end of the range is.
      const steps = new Set(random.list(random.whole(1, 30), () => random.whole(-999, 900)))
      const mean = random.whole(-300, 300)
      const values = [...steps].map((step) => step / 1000)
      const { pBelow } = boundedMeanTest(values, { mean: mean / 1000, range: [-1, 1] })!
      return { ours: pBelow, reference: ['bounded_mean', { steps: [...steps], mean }] }
    },
  },
  {
    estimator: 'signFlips, to 12 values',
    against: 'scipy.stats.permutation_test, exact',
    cases: 60,
    tolerance: 1e-12,
    relative: true,
    compare(random) {
      const fraction = random.rng.next() < 0.5
      const values = random.list(random.whole(2, 12), () =>
        fraction ? random.whole(-4, 6) / 4 : random.normal() + 0.4,
      )
      return { ours: signFlips(values).p, reference: ['sign_flips', { values }] }
    },
  },
  {
    estimator: 'signFlips, fractions to 400 values',
    against: 'every pattern, in whole numbers',
    cases: 20,
    tolerance: 1e-9,
    relative: true,
    compare(random) {
      const repeats = random.whole(1, 8)
      const shift = random.whole(0, 2)
      const steps = random.list(random.whole(21, 400), () => random.whole(-repeats, repeats + shift))
      return {
        ours: signFlips(steps.map((step) => step / repeats)).p,
        reference: ['sign_flips_counted', { steps }],
      }
    },
  },
  {
    estimator: 'signFlips, sampled',
    against: 'scipy.stats.permutation_test, 100,000',
    cases: 6,
    tolerance: monteCarlo,
    compare(random) {
      const values = random.list(random.whole(25, 60), () => random.normal() + 0.2)
      return { ours: signFlips(values).p, reference: ['sign_flips_sampled', { values, seed: 3 }] }
    },
  },
  {
    estimator: 'mcnemarTest, exact and mid-p',
    against: 'statsmodels mcnemar, binom.pmf',
    cases: 300,
    tolerance: 1e-9,
    relative: true,
    compare(random) {
      const [b, c] = [random.whole(0, 300), random.whole(0, 300)]
      const found = mcnemarTest(b, c)
      return { ours: [found?.p, found?.midP], reference: ['mcnemar_exact', { b, c }] }
    },
  },
  ...([holm, benjaminiHochberg] as const).map(
    (adjust): Check => ({
      estimator: adjust.name,
      against: 'statsmodels multipletests',
      cases: 150,
      tolerance: 1e-12,
      compare(random) {
        const values = random.list(random.whole(1, 20), () => random.rng.next() ** 3)
        const name = adjust === holm ? 'holm' : 'benjamini_hochberg'
        return { ours: adjust(values), reference: [name, { values }] }
      },
    }),
  ),
]
