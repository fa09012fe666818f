import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineReader } from './line-reader.ts'

function read(chunks: Buffer[], maxBytes: number) {
  const lines: string[] = []
  let tooLong = 0
  let most = 0
  const reader = new LineReader({
    maxBytes,
    onLine: (line) => lines.push(line),
    onTooLong: () => {
      tooLong++
    },
  })
  for (const chunk of chunks) {
    reader.push(chunk)
    most = Math.max(most, reader.heldBytes)
  }
  reader.end()
  return { lines, tooLong, most }
}

const lines = fc.array(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((line) => line.replace(/[\r\n]/g, '')),
)

test('lines are the same however the bytes are cut, and never more is held than one may have', () => {
  fc.assert(
    fc.property(
      lines,
      fc.array(fc.integer({ min: 1, max: 9 })),
      fc.integer({ min: 1, max: 30 }),
      (all, sizes, max) => {
        const bytes = Buffer.from(all.map((line) => `${line}\n`).join(''))
        const chunks: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes.length === 0 ? bytes.length : (sizes[turn % sizes.length] ?? 1)
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        const fits = all.filter((line) => Buffer.byteLength(line) <= max)
        const result = read(chunks, max)
        expect(result.lines).toEqual(fits)
        expect(result.tooLong).toBe(all.length - fits.length)
        expect(result.most).toBeLessThanOrEqual(max)
      },
    ),
  )
})

test('a last line without a line feed is a line; CRLF ends one as well', () => {
  expect(read([Buffer.from('a\r\nb')], 10).lines).toEqual(['a', 'b'])
})
