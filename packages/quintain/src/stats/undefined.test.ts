import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  benjaminiHochberg,
  bootstrapInterval,
  boundedMeanTest,
  clopperPearsonInterval,
  clusteredMean,
  clusteredProportion,
  coverageOf,
  holm,
  mcnemarPower,
  mcnemarTest,
  mean,
  meanBounds,
  obrienFleming,
  pairedAgain,
  pairedBounds,
  pairedDifference,
  pairedVarianceSplit,
  passAtK,
  passHatK,
  passInterval,
  plannedDetectable,
  powerOf,
  reduceRepeats,
  repeatMean,
  requiredTasks,
  requiredTasksPaired,
  SequentialComparison,
  signFlips,
  smallestDetectable,
  smallestDetectablePaired,
  standardError,
  varianceSplit,
  wilsonInterval,
} from './index.ts'

/** Paths at which a value holds NaN or an infinity, the level that was asked for excepted; and intervals that are the wrong way round. */
function wrongIn(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return Number.isFinite(value) || path.endsWith('.level') ? [] : [path]
  if (typeof value !== 'object' || value === null) return []
  const turned =
    /interval$/i.test(path) && Array.isArray(value) && value[0] > value[1] ? [`${path} is turned round`] : []
  return [...turned, ...Object.entries(value).flatMap(([key, inner]) => wrongIn(inner, `${path}.${key}`))]
}

const score = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1) },
  { weight: 2, arbitrary: fc.double({ min: -1, max: 1 }) },
  fc.constantFrom(null, Number.NaN, Number.POSITIVE_INFINITY, -5, 1e15, 1e-10, 1e308, -1e308),
)
const repeats = fc.array(score, { maxLength: 4 })
const tasks = fc.array(repeats, { maxLength: 8 })
const level = fc.constantFrom(0.95, 0.5, 0, 1, 95, Number.NaN)
const odd = fc.oneof(
  fc.integer({ min: -2, max: 40 }),
  fc.constantFrom(0.5, Number.NaN, Number.POSITIVE_INFINITY),
)
const share = fc.oneof(fc.double({ min: -0.5, max: 1.5 }), fc.constantFrom(0, 1, Number.NaN))

test('scores of any kind, and none at all: null with a reason, never NaN and never an exception', () => {
  fc.assert(
    fc.property(tasks, tasks, level, fc.boolean(), (left, right, level, grouped) => {
      const numbers = left.map((scores) => scores.map((one) => one ?? Number.NaN))
      const side = (all: typeof left) => new Map(all.map((scores, i) => [`t${i}`, scores]))
      const [a, b] = [side(left), side(right)]
      const clusters = new Map(left.map((_, i) => [`t${i}`, `g${i % 3}`]))
      const sequence = new SequentialComparison({ level, largest: left.length - 1 })
      for (const one of left.flat()) sequence.add(one)
      const found = {
        mean: mean(left.flat()),
        coverage: coverageOf(left.flat().map((score) => ({ score }))),
        standardError: standardError(numbers.flat(), level),
        clusteredMean: clusteredMean(numbers, { level }),
        repeatMean: repeatMean(numbers, level),
        proportion: clusteredProportion(
          numbers.map((scores) => scores.map((one) => Number(one > 0))),
          level,
        ),
        varianceSplit: varianceSplit(left),
        bootstrap: bootstrapInterval(numbers, { level, resamples: 200 }),
        pass: passInterval(passHatK, Object.fromEntries(a), 2, { resamples: 100 }),
        paired: pairedDifference(a, b, { level, draws: 99, ...(grouped ? { clusters } : {}) }),
        itself: pairedDifference(a, a, { level, draws: 99 }),
        again: pairedAgain(a, b, level),
        pairedSplit: pairedVarianceSplit(a, b),
        boundedMean: boundedMeanTest(numbers.flat(), { range: [-5, 1] }),
        meanBounds: meanBounds(left, { range: [-1, 1], level }),
        pairedBounds: pairedBounds(a, b, { range: [-1, 1], level, draws: 99 }),
        openBounds: meanBounds(left, { range: [-1, Number.POSITIVE_INFINITY], level }),
        flips: signFlips(numbers.flat(), { draws: 99 }),
        reduced: reduceRepeats('median', left.flat()),
        sequence: sequence.state(),
      }
      expect(wrongIn(found)).toEqual([])
      for (const { p } of [found.paired, found.itself, found.flips, found.sequence]) {
        if (p !== null) expect(p > 0 && p <= 1).toBe(true)
      }
      if (found.itself.difference !== null) expect(found.itself.difference).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('numbers of any kind: counts, shares and designs that are none give no number', () => {
  fc.assert(
    fc.property(odd, odd, odd, share, share, (x, y, z, one, other) => {
      const design = { kind: 'paired', between: one, within: other, repeats: z } as const
      const options = { alpha: one, power: other }
      const found = [
        wilsonInterval(x, y, one),
        clopperPearsonInterval(x, y, one),
        passAtK(x, y, z),
        passHatK(x, y, z),
        mcnemarTest(x, y),
        holm([one, other, x]),
        benjaminiHochberg([one, other, x]),
        powerOf(one, x, design),
        smallestDetectable(x, design, { largest: y }),
        requiredTasks(0.1 + Math.abs(other), design, options),
        plannedDetectable({ tasks: x, repeats: y }, options),
        mcnemarPower(other, x, { discordant: one }),
        requiredTasks(one * 1e-300, design),
        requiredTasksPaired(one * 1e-300, { discordant: 0.3 }),
        coverageOf([{ score: one }], { planned: x * y, highest: y }),
        wilsonInterval(1, 2, 0.95, y),
        requiredTasksPaired(0.2, { discordant: one, alpha: other }),
        smallestDetectablePaired(x, { discordant: one, power: other }),
        obrienFleming(x > 4 ? 2 : x, one),
      ]
      expect(wrongIn(found)).toEqual([])
    }),
    { numRuns: 300 },
  )
})
