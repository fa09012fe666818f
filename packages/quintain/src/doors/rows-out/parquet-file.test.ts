import { expect, test } from 'vitest'
import { columnsOf, ParquetRows } from './index.ts'

const row = (content: string) => ({ messages: [{ role: 'user', content }], tools: null, lineage: { v: 1 } })

async function written(rows: readonly object[], size: number) {
  const chunks: Buffer[] = []
  const file = new ParquetRows(columnsOf.sft, async (bytes) => void chunks.push(Buffer.from(bytes)))
  const counts: number[] = []
  for (const one of rows) {
    await file.add(one, size)
    counts.push(chunks.length)
  }
  await file.end()
  return { bytes: Buffer.concat(chunks), counts }
}

test('a file begins and ends as Parquet does, names who wrote it, and holds the texts', async () => {
  const { bytes } = await written([row('first words'), row('other words')], 100)
  expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', bytes.length - 4)]).toEqual([
    'PAR1',
    'PAR1',
  ])
  const footer = bytes.readUInt32LE(bytes.length - 8)
  const tail = bytes.toString('latin1', bytes.length - 8 - footer)
  expect(tail).toContain('quintain version ')
  for (const name of ['messages', 'tool_calls', 'environment_digest']) expect(tail).toContain(name)
  for (const text of ['first words', 'other words']) expect(bytes.includes(text)).toBe(true)
})

test('rows are let go in groups, so that no more than one is held', async () => {
  const big = Array.from({ length: 20 }, (_, at) => row(`${at}`))
  const { counts } = await written(big, 4 * 1024 * 1024)
  expect(counts).toEqual(big.map((_, at) => Math.floor((at + 1) / 2)))
  expect((await written([row('a')], 9 * 1024 * 1024)).counts).toEqual([1])
})

test('no row makes a file of columns all the same', async () => {
  const { bytes } = await written([], 0)
  expect(bytes.includes('environment_digest')).toBe(true)
})
