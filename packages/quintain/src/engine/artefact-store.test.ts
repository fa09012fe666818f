import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Snapshot, SnapshotEntry } from '../core/index.ts'
import { temporaryFolder } from './__fixtures__/recorded.ts'
import { ArtefactStore, readArtefacts } from './artefact-store.ts'

const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `/box/${text}`)
const entry: fc.Arbitrary<SnapshotEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    path,
    mode: fc.constant(0o644),
    data: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ kind: fc.constant('folder' as const), path, mode: fc.constant(0o755) }),
  fc.record({ kind: fc.constant('link' as const), path, target: path }),
)

async function kept(entries: SnapshotEntry[]): Promise<{ folder: string; artefacts: Snapshot }> {
  const folder = join(await temporaryFolder(), 'artefacts')
  const store = new ArtefactStore()
  const artefacts: Snapshot = { version: 1, entries, skipped: [] }
  await store.keep(artefacts)
  store.keepIn(folder)
  await store.keep(artefacts)
  await store.keep(artefacts)
  return { folder, artefacts }
}

test('artefacts come back as they were, from one file each', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { selector: ({ path: at }) => at, maxLength: 6 }),
      async (entries) => {
        const { folder, artefacts } = await kept(entries)
        const files = await readdir(folder)
        expect(files).toHaveLength(1)
        expect(await readArtefacts(await readFile(join(folder, files[0]!)))).toEqual(artefacts)
      },
    ),
    { numRuns: 30 },
  )
})

test('what is damaged is refused', async () => {
  const { folder } = await kept([{ kind: 'file', path: '/a', mode: 0o644, data: Buffer.from('x') }])
  const file = join(folder, (await readdir(folder))[0]!)
  const bytes = await readFile(file)
  await writeFile(file, bytes.subarray(0, -4))
  for (const bad of [bytes.subarray(0, -4), Buffer.from('nothing'), new Uint8Array()])
    await expect(readArtefacts(bad)).rejects.toMatchObject({ code: 'run_corrupt' })
})
