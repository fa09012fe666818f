import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GrowingReply } from './growing-reply.ts'

/** After the 256 bytes. */
const end = 256
const textOf = (ids: Int32Array) => Buffer.from(ids).toString('utf8')
const growing = (stopTexts: readonly string[] = []) =>
  new GrowingReply({ textOf, stopTexts, stopIds: new Set([end]) })

/** Adds ids in pieces of the given sizes; what was said after each. */
function feed(reply: GrowingReply, ids: readonly number[], sizes: readonly number[]): string[] {
  const said: string[] = []
  let from = 0
  for (let at = 0; from < ids.length; at++) {
    const size = sizes[at % sizes.length]!
    const piece = ids.slice(from, from + size)
    from += size
    if (
      reply.add(
        piece,
        piece.map(() => -1),
      )
    )
      break
    said.push(reply.said)
  }
  reply.end()
  said.push(reply.said)
  return said
}

describe('a reply while it is sampled', () => {
  test('is the same text however its tokens come, and takes nothing back that it said', () => {
    const bytes = fc.array(
      fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('é☀️😀a'))),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
        (ids, sizes) => {
          const said = feed(growing(), [...ids, end], sizes)
          expect(said.at(-1)).toBe(Buffer.from(ids).toString('utf8'))
          for (const [at, text] of said.entries()) expect(text.startsWith(said[at - 1] ?? '')).toBe(true)
        },
      ),
    )
  })

  test('ends at the first text that ends it, and says none of that', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 20 })
    const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(
        text,
        fc.array(stop, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        (whole, stops, size) => {
          const reply = growing(stops)
          const said = feed(reply, [...Buffer.from(whole)], [size])
          const ends = stops.flatMap((one) => (whole.includes(one) ? [whole.indexOf(one) + one.length] : []))
          if (ends.length === 0) {
            expect(reply.said).toBe(whole)
            expect(reply.stoppedBy).toBeUndefined()
            return
          }
          // The one that is complete first; of those that end there, the one that begins first.
          const first = Math.min(...ends)
          const begins = Math.min(
            ...stops.flatMap((one) => (whole.slice(0, first).endsWith(one) ? [first - one.length] : [])),
          )
          expect(reply.said).toBe(whole.slice(0, begins))
          expect(reply.ids).toHaveLength(Buffer.byteLength(whole.slice(0, first)))
          for (const before of said) expect(reply.said.startsWith(before)).toBe(true)
        },
      ),
    )
  })

  test('holds half a character back until it is whole', () => {
    const reply = growing()
    const [first, second, third] = Buffer.from('☀')
    reply.add([97, first!, second!], [-1, -1, -1])
    expect(reply.said).toBe('a')
    reply.add([third!], [-1])
    expect(reply.said).toBe('a☀')
  })
})
