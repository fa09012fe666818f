import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Datum, LossFunction } from './engine.ts'
import { losses, resolveLoss } from './losses.ts'

/** Steps of a finite difference, and a grid on which such a step loses nothing in single precision. */
const step = 2 ** -8
const logprob = fc.integer({ min: -3000, max: -16 }).map((parts) => parts / 1024)

interface Made {
  data: Datum[]
  logprobs: Float32Array[]
}

/** Datums with everything that a loss may want. Of each two that make a unit the first is the better. */
const made: fc.Arbitrary<Made> = fc
  .array(
    fc.record({
      tokens: fc.array(fc.record({ l: logprob, q: logprob, reference: logprob, trained: fc.boolean() }), {
        minLength: 1,
        maxLength: 4,
      }),
      advantage: fc.constantFrom(-1.5, -0.25, 0.5, 2),
    }),
    { minLength: 2, maxLength: 2 },
  )
  .map((rows) => ({
    logprobs: rows.map(({ tokens }) => Float32Array.from(tokens, ({ l }) => l)),
    data: rows.map(({ tokens, advantage }, at): Datum => {
      const of = (name: 'q' | 'reference') => Float32Array.from(tokens, (token) => token[name])
      // The first token of each is trained on, so that no datum is empty.
      const trained = tokens.map((token, t) => token.trained || t === 0)
      return {
        input: new Int32Array(tokens.length),
        target: new Int32Array(tokens.length),
        weights: Float32Array.from(trained, (one) => (one ? 0.5 : 0)),
        advantages: Float32Array.from(trained, (one) => (one ? advantage * 0.5 : 0)),
        logprobs: of('q'),
        reference: of('reference'),
        unit: Math.floor(at / 2),
      }
    }),
  }))

/** The derivative by each log-probability that the loss says, against the difference that it makes. */
function expectSlopes(loss: LossFunction, { data, logprobs }: Made): void {
  const { gradients } = loss(data, logprobs)
  for (const [at, own] of logprobs.entries()) {
    for (let t = 0; t < own.length; t++) {
      const moved = (by: number) => {
        const other = own.slice()
        other[t]! += by
        return loss(data, logprobs.with(at, other)).loss
      }
      const slopes = [moved(step) - moved(-step), 2 * (moved(step / 2) - moved(-step / 2))].map(
        (one) => one / (2 * step),
      )
      // Where two steps do not agree, a kink lies between them.
      if (Math.abs(slopes[0]! - slopes[1]!) > 1e-3 * (1 + Math.abs(slopes[1]!))) continue
      expect(gradients[at]![t]).toBeCloseTo(slopes[1]!, 2)
      expect(Math.abs(gradients[at]![t]! - slopes[1]!)).toBeLessThan(1e-3 * (1 + Math.abs(slopes[1]!)))
    }
  }
}

describe('the gradient of every loss is the difference that it makes', () => {
  const specs = [
    { name: 'cross_entropy' },
    { name: 'importance_sampling' },
    { name: 'ppo' },
    { name: 'ppo', config: { clip_low_threshold: 0.9, clip_high_threshold: 1.5, dual_clip: 2 } },
    { name: 'dro', config: { beta: 0.7 } },
    { name: 'dppo', config: { mask_low: 0.1, mask_high: 0.05 } },
    { name: 'importance_sampling', config: { kl_coefficient: 0.3, kl_estimator: 1 } },
    { name: 'importance_sampling', config: { kl_coefficient: 0.3, kl_estimator: 2 } },
    { name: 'ppo', config: { kl_coefficient: 0.3 } },
  ]
  test.each(specs)('$name $config', (spec) => {
    fc.assert(
      fc.property(made, (some) => expectSlopes(resolveLoss(spec), some)),
      { numRuns: 60 },
    )
  })

  test.each([{ name: 'gspo', config: { clip_low_threshold: 0.7, clip_high_threshold: 1.4 } }])(
    '$name, for a sequence of one advantage',
    (spec) => {
      fc.assert(
        fc.property(made, fc.boolean(), (some, together) => {
          const advantage = (at: number) => (together ? 0.8 : [0.8, -0.3][at]!)
          const data = some.data.map(({ unit: _, ...datum }, at) => ({
            ...datum,
            advantages: datum.weights!.map((weight) => weight * advantage(at)),
            ...(together ? { unit: 0 } : {}),
          }))
          expectSlopes(resolveLoss(spec), { ...some, data })
        }),
        { numRuns: 60 },
      )
    },
  )

  test.each([0, 0.2])('dpo, smoothed by %s', (label_smoothing) => {
    fc.assert(
      fc.property(made, (some) => {
        const data = some.data.map((datum, at) => ({
          ...datum,
          advantages: datum.weights!.map((weight) => (at === 0 ? weight : -weight)),
        }))
        expectSlopes(resolveLoss({ name: 'dpo', config: { beta: 0.5, label_smoothing } }), { ...some, data })
      }),
      { numRuns: 60 },
    )
  })

  test('cispo, whose ratio is a weight that is held', () => {
    fc.assert(
      fc.property(made, (some) => {
        const { gradients } = resolveLoss({ name: 'cispo', config: { clip_high_threshold: 1.5 } })(
          some.data,
          some.logprobs,
        )
        for (const [at, { advantages, logprobs }] of some.data.entries()) {
          for (const [t, advantage] of advantages!.entries()) {
            const ratio = Math.exp(some.logprobs[at]![t]! - logprobs![t]!)
            expect(gradients[at]![t]).toBeCloseTo(-Math.min(1.5, ratio) * advantage, 5)
          }
        }
      }),
    )
  })
})

/** One token of a ratio and an advantage. */
function token(ratio: number, advantage: number, more: Partial<Datum> = {}): Made {
  return {
    data: [
      {
        input: new Int32Array(1),
        target: new Int32Array(1),
        advantages: Float32Array.of(advantage),
        logprobs: Float32Array.of(-2),
        ...more,
      },
    ],
    logprobs: [Float32Array.of(-2 + Math.log(ratio))],
  }
}

function valueBy(name: string, { data, logprobs }: Made, config?: Record<string, number>) {
  const { loss, gradients, metrics } = resolveLoss(config === undefined ? { name } : { name, config })(
    data,
    logprobs,
  )
  return { loss: Number(loss.toFixed(5)), gradient: Number(gradients[0]![0]!.toFixed(5)), metrics }
}

test('where the sampler and the learner agree, the ratio is one and the gradient is that of REINFORCE', () => {
  for (const name of ['importance_sampling', 'ppo', 'cispo', 'gspo', 'dppo', 'dro']) {
    for (const advantage of [-0.5, 2]) {
      const { gradient, metrics } = valueBy(name, token(1, advantage))
      expect([name, gradient]).toEqual([name, -advantage])
      expect(metrics).toMatchObject({
        'ratio:max': 1,
        'ratio:min': 1,
        'clipped:sum': 0,
        'mismatch_k2:sum': 0,
      })
    }
  }
})

test('a token is clipped only in the direction of its advantage', () => {
  expect(valueBy('ppo', token(2, 1))).toMatchObject({
    loss: -1.2,
    gradient: 0,
    metrics: { 'clipped:sum': 1 },
  })
  expect(valueBy('ppo', token(0.5, 1))).toMatchObject({ loss: -0.5, gradient: -0.5 })
  expect(valueBy('ppo', token(0.5, -1))).toMatchObject({
    loss: 0.8,
    gradient: 0,
    metrics: { 'clipped:sum': 1 },
  })
  expect(valueBy('ppo', token(2, -1))).toMatchObject({ loss: 2, gradient: 2 })
  expect(valueBy('ppo', token(9, -1), { dual_clip: 3 })).toMatchObject({ loss: 3, gradient: 0 })
  const higher = { clip_low_threshold: 0.8, clip_high_threshold: 1.28 }
  expect(valueBy('ppo', token(1.25, 1), higher)).toMatchObject({ loss: -1.25, gradient: -1.25 })
  // exp(-2) is 0.135: twice of it is 0.135 more, and a half 0.068 less.
  const masks = { mask_low: 0.05, mask_high: 0.1 }
  expect(valueBy('dppo', token(2, 1), masks).gradient).toBe(0)
  expect(valueBy('dppo', token(2, -1), masks).gradient).toBe(2)
  expect(valueBy('dppo', token(0.5, -1), masks).gradient).toBe(0)
  expect(valueBy('dppo', token(0.5, 1), masks).gradient).toBe(-0.5)
})

test('a ratio out of all proportion stays a number', () => {
  const far = token(1, 1)
  far.data[0]!.logprobs = Float32Array.of(-500)
  for (const name of ['importance_sampling', 'ppo', 'cispo', 'gspo', 'dppo', 'dro']) {
    const { loss, gradient } = valueBy(name, far)
    expect(Number.isFinite(loss) && Number.isFinite(gradient)).toBe(true)
  }
})

test('rows of one rollout have one ratio in gspo', () => {
  const row = (ratio: number, unit: number): Datum => ({
    input: new Int32Array(1),
    target: new Int32Array(1),
    advantages: Float32Array.of(1),
    logprobs: Float32Array.of(-Math.log(ratio)),
    unit,
  })
  const loss = resolveLoss({ name: 'gspo', config: { clip_high_threshold: 100 } })
  const zero = [new Float32Array(1), new Float32Array(1)]
  expect(loss([row(8, 0), row(2, 0)], zero).loss).toBeCloseTo(-8, 5)
  expect(loss([row(8, 0), row(2, 1)], zero).loss).toBeCloseTo(-10, 5)
})

test('dpo raises the better and lowers the worse, and refuses what is no pair', () => {
  const side = (sign: number, reference: number): Datum => ({
    input: new Int32Array(2),
    target: new Int32Array(2),
    advantages: Float32Array.of(0, sign),
    reference: Float32Array.of(0, reference),
    unit: 3,
  })
  const logprobs = [Float32Array.of(-9, -1), Float32Array.of(-9, -1)]
  const loss = resolveLoss({ name: 'dpo' })
  const even = loss([side(1, -1), side(-1, -1)], logprobs)
  expect(even.loss).toBeCloseTo(Math.log(2), 6)
  expect(even.gradients.map((own) => [...own].map((one) => Number(one.toFixed(4))))).toEqual([
    [0, -0.05],
    [0, 0.05],
  ])
  expect(loss([side(1, -3), side(-1, -1)], logprobs).metrics).toMatchObject({
    'right:sum': 1,
    'pairs:sum': 1,
  })
  for (const wrong of [[side(1, 0)], [side(1, 0), side(1, 0)], [side(1, 0), { ...side(-1, 0), unit: 4 }]])
    expect(() => loss(wrong, logprobs)).toThrow(expect.objectContaining({ code: 'datum_invalid' }))
})

test('a loss or a number of it that is none is refused, with what there is', () => {
  const refused = (name: string, config?: Record<string, number>) => {
    try {
      resolveLoss(config === undefined ? { name } : { name, config })
      return 'taken'
    } catch (error) {
      return error
    }
  }
  expect(refused('importance_samplin')).toMatchObject({
    code: 'options_invalid',
    message: expect.stringContaining('did you mean "importance_sampling"?'),
  })
  expect(refused('ppo', { clip_hi_threshold: 1.2 })).toMatchObject({
    message: expect.stringContaining('did you mean "clip_high_threshold"?'),
  })
  expect(refused('ppo', { clip_high_threshold: 0.2 })).toMatchObject({
    message: expect.stringContaining('must lie from 1'),
  })
  expect(refused('ppo', { clip_high_threshold: Number.NaN })).toMatchObject({ code: 'options_invalid' })
  expect(refused('toString')).toMatchObject({ code: 'options_invalid' })
  const { logprobs: _, ...lacking } = token(1, 1).data[0]!
  expect(() => valueBy('ppo', { ...token(1, 1), data: [lacking] })).toThrow('no logprobs')
  for (const name of Object.keys(losses)) expect(refused(name)).toBe('taken')
})
