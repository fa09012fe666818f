import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRng } from '../../core/index.ts'
import { KernelBench } from './__fixtures__/bench-of-kernels.ts'
import { referenceScores } from './__fixtures__/reference-transformer.ts'
import { type EmbeddedShape, parameterCount, tensorsOf } from './shape.ts'

const shapes: Record<string, EmbeddedShape> = {
  'one head': { layers: 1, width: 8, heads: 1, feedForward: 8, vocabulary: 2, context: 5 },
  'odd sizes': { layers: 2, width: 16, heads: 2, feedForward: 24, vocabulary: 7, context: 21 },
  'wide heads': { layers: 1, width: 48, heads: 2, feedForward: 40, vocabulary: 13, context: 33 },
}

/** Weights that are not near anything: gains off one, a head that is far from even. */
function someWeights(shape: EmbeddedShape, seed: string): Float64Array {
  const rng = createRng(seed)
  const weights = new Float64Array(parameterCount(shape))
  for (const { role, offset, length, shape: sizes } of tensorsOf(shape)) {
    const spread = role === 'embedding' ? 1 : role === 'gain' ? 0.5 : 1.7 / Math.sqrt(sizes[0]!)
    for (let at = offset; at < offset + length; at++) {
      weights[at] = Math.fround((role === 'gain' ? 1 : 0) + spread * (2 * rng.next() - 1))
    }
  }
  return weights
}

function someSequences(shape: EmbeddedShape, lengths: readonly number[], seed: string) {
  const rng = createRng(seed)
  return lengths.map((length) => {
    const ids = Int32Array.from({ length: length + 1 }, () => rng.int(shape.vocabulary))
    return { input: ids.slice(0, length), target: ids.slice(1) }
  })
}

describe.each(Object.entries(shapes))('kernels, %s', (name, shape) => {
  const weights = someWeights(shape, name)
  const bench = new KernelBench(shape, weights)
  const lengths = [shape.context, 1, 2, Math.min(4, shape.context), Math.ceil(shape.context / 2)]
  const data = someSequences(shape, lengths, name)

  it('gives the log-probabilities and entropies of the definition', () => {
    const { logprobs, entropies } = bench.run(data)
    for (const [at, datum] of data.entries()) {
      const expected = referenceScores(shape, weights, datum)
      for (let t = 0; t < datum.target.length; t++) {
        expect(logprobs[at]![t]).toBeCloseTo(expected.logprobs[t]!, 4)
        expect(entropies[at]![t]).toBeCloseTo(expected.entropies[t]!, 4)
      }
    }
  })

  it('has the gradient of finite differences in every tensor', () => {
    const rng = createRng(`${name}/slopes`)
    const slopes = data.map(({ target }) => Float32Array.from(target, () => 2 * rng.next() - 1))
    const { gradient } = bench.run(data, slopes)
    const loss = (at: Float64Array): number =>
      data.reduce((sum, datum, index) => {
        const { logprobs } = referenceScores(shape, at, datum)
        return sum + logprobs.reduce((own, logprob, t) => own + logprob * slopes[index]![t]!, 0)
      }, 0)
    for (const { name: tensor, offset, length } of tensorsOf(shape)) {
      const largest = gradient
        .subarray(offset, offset + length)
        .reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      // Single numbers, and the whole tensor in a random direction.
      const places = Array.from({ length: Math.min(3, length) }, () => offset + rng.int(length))
      const directions: ((at: number) => number)[] = places.map((place) => (at) => (at === place ? 1 : 0))
      const signs = Float64Array.from({ length }, () => (rng.next() < 0.5 ? -1 : 1))
      directions.push((at) => signs[at - offset]!)
      for (const direction of directions) {
        const along = (step: number): number => {
          const moved = Float64Array.from(weights)
          for (let at = offset; at < offset + length; at++) moved[at]! += step * direction(at)
          return loss(moved)
        }
        const step = 1e-6
        const slope = (along(step) - along(-step)) / (2 * step)
        let own = 0
        for (let at = offset; at < offset + length; at++) own += gradient[at]! * direction(at)
        expect(Math.abs(own - slope), tensor).toBeLessThan(1e-4 * (largest + Math.abs(slope)) + 1e-6)
      }
    }
  })

  it('decodes what the full forward gives, bit for bit, however the rows are mixed', () => {
    const { logprobs } = bench.run(data)
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(1000)), (stream) => {
        const draw = (bound: number): number => stream.next().value! % bound
        const next = data.map(() => 0)
        const found: number[][] = data.map(() => [])
        while (next.some((at, index) => at < data[index]!.input.length)) {
          const rows: { slot: number; position: number; token: number }[] = []
          for (const [index, { input }] of data.entries()) {
            for (let more = draw(4); more > 0 && next[index]! < input.length; more--) {
              const position = next[index]!++
              rows.push({ slot: data.length - index, position, token: input[position]! })
            }
          }
          if (rows.length === 0) continue
          bench.decode(rows).forEach(({ logits, logSumExp }, at) => {
            const { slot, position } = rows[at]!
            const index = data.length - slot
            const target = data[index]!.target[position]!
            found[index]![position] = Math.fround(logits[target]! - logSumExp)
          })
        }
        expect(found).toEqual(logprobs.map((own) => [...own]))
      }),
      { numRuns: 20, seed: 1 },
    )
  })

  it('gives a sequence the same bits alone and in a batch, in the gradient too up to rounding', () => {
    const { logprobs } = bench.run(data)
    for (const [at, datum] of data.entries()) expect(bench.run([datum]).logprobs[0]).toEqual(logprobs[at])
  })

  it('goes on from a copied slot as from the first', () => {
    const { input } = data[0]!
    const rows = [...input].map((token, position) => ({ slot: 0, position, token }))
    const whole = bench.decode(rows)
    for (let kept = 1; kept < input.length; kept++) {
      bench.decoder.copy(0, 1, kept)
      const rest = bench.decode(rows.slice(kept).map((row) => ({ ...row, slot: 1 })))
      expect(rest).toEqual(whole.slice(kept))
    }
  })

  it('gives logits of the wanted rows only', () => {
    const { input } = data[0]!
    const rows = [...input].map((token, position) => ({ slot: 2, position, token }))
    const whole = bench.decode(rows)
    const some = bench.decode(rows.map((row) => ({ ...row, wanted: row.position % 3 === 1 })))
    expect(some).toEqual(whole.filter((_, at) => at % 3 === 1))
  })
})

describe('kernels at the edge of numbers', () => {
  const shape = shapes['odd sizes']!

  it('have log-probabilities of far-apart logits', () => {
    const weights = someWeights(shape, 'far')
    const head = tensorsOf(shape).at(-1)!
    for (let at = head.offset; at < head.offset + head.length; at++) weights[at]! *= 100
    const data = someSequences(shape, [20], 'far')
    const { logprobs, entropies } = new KernelBench(shape, weights).run(data)
    const expected = referenceScores(shape, weights, data[0]!)
    for (const [t, logprob] of expected.logprobs.entries()) {
      expect(Math.abs(logprobs[0]![t]! - logprob)).toBeLessThan(1e-4 * Math.max(1, Math.abs(logprob)))
      expect(entropies[0]![t]).toBeCloseTo(expected.entropies[t]!, 3)
    }
  })

  it('say what is no number', () => {
    const weights = someWeights(shape, 'nan')
    weights[3] = Number.NaN
    const data = [{ input: Int32Array.of(0), target: Int32Array.of(1) }]
    expect(new KernelBench(shape, weights).run(data).logprobs[0]![0]).toBeNaN()
  })
})
