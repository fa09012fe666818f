import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { Outbox } from './outbox.ts'

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

test('messages of one turn leave together, in order', async () => {
  const sent: number[][] = []
  const outbox = new Outbox<number>((batch) => sent.push(batch))
  for (let n = 0; n < 5; n++) outbox.push(n)
  expect(sent).toEqual([])
  await turns(2)
  expect(sent).toEqual([[0, 1, 2, 3, 4]])
})

test('a burst leaves in several batches, whole, in order, with turns between them', async () => {
  const sent: number[][] = []
  const outbox = new Outbox<number>((batch) => {
    sent.push(batch)
    if (sent.length === 1) outbox.push(-1)
  })
  const burst = Array.from({ length: 1_000 }, (_, n) => n)
  for (const n of burst) outbox.push(n)
  await turns(2)
  expect(sent.flat().length).toBeLessThan(1_000)
  await turns(40)
  expect(sent.flat()).toEqual([...burst, -1])
  expect(Math.max(...sent.map((batch) => batch.length))).toBeLessThan(100)
  outbox.push(7)
  await turns(2)
  expect(sent.at(-1)).toEqual([7])
})

test('patient messages wait for others, and go with one that does not', async () => {
  const sent: number[][] = []
  const outbox = new Outbox<number>((batch) => sent.push(batch))
  outbox.push(1, { patient: true })
  outbox.push(2)
  await turns(2)
  expect(sent).toEqual([[1, 2]])
  for (let n = 3; n < 8; n++) outbox.push(n, { patient: true })
  await vi.waitFor(() =>
    expect(sent).toEqual([
      [1, 2],
      [3, 4, 5, 6, 7],
    ]),
  )
})

test('as many as leave together wait no longer, however patient', async () => {
  const sent: number[][] = []
  const outbox = new Outbox<number>((batch) => sent.push(batch))
  for (let n = 0; n < 64; n++) outbox.push(n, { patient: true })
  await turns(2)
  expect(sent.flat()).toHaveLength(64)
})
