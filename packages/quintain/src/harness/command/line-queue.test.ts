import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineQueue } from './line-queue.ts'

const source = { pause() {}, resume() {} }

test('gives the lines of a text, however it is cut into pieces and whenever it is asked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !line.includes('\n'))),
      fc.array(fc.nat({ max: 7 })),
      fc.boolean(),
      async (lines, cuts, early) => {
        const queue = new LineQueue(source, 1000)
        const wanted = lines.filter((line) => line.trim() !== '')
        const asked = early ? queue.next() : undefined
        let bytes = Buffer.from(lines.join('\n'))
        for (const cut of cuts) {
          queue.push(bytes.subarray(0, cut))
          bytes = bytes.subarray(cut)
        }
        queue.push(bytes)
        queue.end()
        const got = [await (asked ?? queue.next())]
        while (got.at(-1) !== undefined) got.push(await queue.next())
        expect(got).toEqual([...wanted, undefined])
      },
    ),
  )
})

test('keeps of a line no more than it may, and reads nothing while nobody waits', async () => {
  const flow: string[] = []
  const queue = new LineQueue({ pause: () => flow.push('pause'), resume: () => flow.push('resume') }, 10)
  for (let at = 0; at < 1000; at++) queue.push(Buffer.alloc(1000, 'x'))
  queue.push(Buffer.from('\nnext\n'))
  expect(await queue.next()).toBe('x'.repeat(10))
  expect(await queue.next()).toBe('next')
  expect(flow.slice(0, 3)).toEqual(['pause', 'resume', 'pause'])
})
