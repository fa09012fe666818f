import { expect, test } from 'vitest'
import { checkData } from './datum.ts'
import type { Datum } from './engine.ts'

const good: Datum = {
  input: Int32Array.of(0, 1),
  target: Int32Array.of(1, 2),
  weights: Float32Array.of(0, 1),
}

test('what an engine cannot train on is refused by the datum and what is wrong with it', () => {
  const engine = { vocabulary: 3, context: 2 }
  const wrong: [Partial<Datum>, RegExp][] = [
    [{ input: Int32Array.of(), target: Int32Array.of() }, /datum 1 has no token/],
    [{ target: Int32Array.of(1) }, /2 input and 1 target ids/],
    [{ target: Int32Array.of(1, 3) }, /the id 3, and the vocabulary has 3/],
    [{ input: Int32Array.of(-1, 1) }, /the id -1/],
    [
      { input: Int32Array.of(0, 1, 2), target: Int32Array.of(1, 2, 0), weights: new Float32Array(3) },
      /the context is 2/,
    ],
    [{ advantages: Float32Array.of(1) }, /1 advantages for 2 targets/],
    [{ logprobs: Float32Array.of(0, Number.NaN) }, /NaN among its logprobs, at target 1/],
    [{ reference: Float32Array.of(Number.NEGATIVE_INFINITY, 0) }, /-Infinity among its reference/],
  ]
  expect(() => checkData([good], engine)).not.toThrow()
  for (const [more, message] of wrong) {
    expect(() => checkData([good, { ...good, ...more }], engine)).toThrow(
      expect.objectContaining({ code: 'datum_invalid', message: expect.stringMatching(message) }),
    )
  }
  expect(() => checkData([], engine)).toThrow(expect.objectContaining({ code: 'datum_invalid' }))
})
