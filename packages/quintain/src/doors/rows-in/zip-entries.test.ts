import { mkdtempSync, rmSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { type Packed, zipOf } from './__fixtures__/zip.ts'
import { readEntry, zipEntries } from './zip-entries.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-zip-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const most = 1_000_000

async function read(bytes: Buffer): Promise<string | Record<string, string>> {
  const path = join(folder, 'a.zip')
  await writeFile(path, bytes)
  const file = await open(path, 'r')
  try {
    const entries = await zipEntries(file)
    if (typeof entries === 'string') return entries
    const found: Record<string, string> = {}
    for (const [name, entry] of entries) {
      const unpacked = await readEntry(file, entry, most)
      found[name] = typeof unpacked === 'string' ? `problem: ${unpacked}` : unpacked.toString()
    }
    return found
  } finally {
    await file.close()
  }
}

test('what was packed comes back, whatever the method; of two with one name the last counts', async () => {
  const texts = { stored: 'a', deflated: 'b'.repeat(9999), zstd: 'c'.repeat(9999), empty: '' }
  const entries: Packed[] = [
    { name: 'deflated', data: 'an earlier one' },
    { name: 'stored', data: texts.stored, method: 0 },
    { name: 'deflated', data: texts.deflated },
    { name: 'zstd', data: texts.zstd, method: 93 },
    { name: 'empty', data: '' },
  ]
  expect(await read(zipOf(entries))).toEqual(texts)
})

test('a bomb is not unpacked: no more is made than was claimed, and no more may be claimed than is taken', async () => {
  const huge = Buffer.alloc(most * 5)
  const cases: [string, Packed, RegExp][] = [
    ['that says so', { name: 'a', data: huge }, /more than/],
    ['that says it is small', { name: 'a', data: huge, claim: { size: 100 } }, /longer than it claims/],
    ['in zstd', { name: 'a', data: huge, method: 93, claim: { size: 100 } }, /longer than it claims/],
  ]
  for (const [, entry, problem] of cases)
    expect(await read(zipOf([entry]))).toEqual({ a: expect.stringMatching(problem) })
  // One piece of data under many names.
  const same = Array.from({ length: 50 }, (_, at) => ({
    name: `${at}`,
    data: at === 0 ? 'x'.repeat(5000) : '',
    method: 0 as const,
    claim: { at: 0, packed: 5000, size: 5000 },
  }))
  expect(await read(zipOf(same))).toBe('its entries claim more than there is')
})

test('what is damaged, encrypted or packed otherwise is a problem, and the others are read', async () => {
  const entries = [
    { name: 'wrong', data: 'text', claim: { crc: 1 } },
    { name: 'locked', data: 'text', flags: 1 },
    { name: 'fine', data: 'text' },
  ]
  expect(await read(zipOf(entries))).toEqual({
    wrong: 'problem: it is not what its checksum says',
    locked: 'problem: it is encrypted',
    fine: 'text',
  })
  expect(await read(Buffer.from('no zip'))).toMatch(/no zip/)
})

test('no bytes make it throw', async () => {
  const whole = zipOf([
    { name: 'a', data: 'one' },
    { name: 'b', data: 'two'.repeat(99), method: 0 },
  ])
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 8 }),
      fc.nat(whole.length),
      async (changes, length) => {
        const bytes = Buffer.from(whole)
        for (const [at, byte] of changes) bytes[at] = byte
        await read(bytes.subarray(0, length))
        await read(bytes)
      },
    ),
    { numRuns: 150 },
  )
})
