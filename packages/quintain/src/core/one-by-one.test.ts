import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OneByOne } from './one-by-one.ts'

it('carries out in order, one at a time, whatever fails and whenever it is asked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ pauses: fc.nat(3), fails: fc.boolean(), before: fc.nat(2) }), { maxLength: 12 }),
      async (works) => {
        const line = new OneByOne()
        const begun: number[] = []
        let running = 0
        const asked: Promise<PromiseSettledResult<number>[]>[] = []
        for (const [place, { pauses, fails, before }] of works.entries()) {
          await ticks(before)
          const work = async () => {
            begun.push(place)
            expect(++running).toBe(1)
            await ticks(pauses)
            running--
            if (fails) throw new Error(`${place}`)
            return place
          }
          asked.push(Promise.allSettled([line.run(work)]))
        }
        const settled = (await Promise.all(asked)).flat()
        expect(settled.map(({ status }) => status)).toEqual(
          works.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        )
        expect(begun).toEqual(works.map((_, place) => place))
        expect(line.count).toBe(0)
      },
    ),
  )
})

it('counts what is carried out and what waits', async () => {
  const line = new OneByOne()
  const { promise, resolve } = Promise.withResolvers<void>()
  const both = Promise.all([line.run(() => promise), line.run(async () => {})])
  expect(line.count).toBe(2)
  resolve()
  await both
  expect(line.count).toBe(0)
})

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve()
}
