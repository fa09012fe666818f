import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeptOutput, outputFields } from './command-output.ts'

describe('kept output', () => {
  it('is all of it, or its first and last half, however it came', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 200 }),
        (chunks, limit) => {
          const kept = new KeptOutput(limit)
          for (const chunk of chunks) kept.add(chunk)
          const all = Buffer.concat(chunks)
          const { bytes, head, written } = kept.end()
          expect(written).toBe(all.length)
          const half = Math.floor(limit / 2)
          const wanted =
            all.length <= limit
              ? all
              : Buffer.concat([all.subarray(0, half), all.subarray(all.length - (limit - half))])
          expect(Buffer.compare(Buffer.from(bytes), wanted)).toBe(0)
          expect(head).toBe(Math.min(half, all.length))
        },
      ),
    )
  })

  it('holds no more than it keeps, give or take', () => {
    const kept = new KeptOutput(1_000)
    const chunk = new Uint8Array(65_536).fill(97)
    for (let i = 0; i < 1_000; i++) kept.add(chunk)
    expect(kept.end()).toMatchObject({ head: 500, written: 65_536_000 })
  })

  it('says where something is left out', () => {
    const kept = new KeptOutput(4)
    kept.add(Buffer.from('abcdefgh'))
    const none = new KeptOutput(4).end()
    expect(outputFields(kept.end(), none, false)).toEqual({
      stdout: 'ab\n[... 4 bytes left out ...]\ngh',
      stderr: '',
      written: { stdout: 8, stderr: 0 },
      truncated: { stdout: true, stderr: false },
    })
  })
})
