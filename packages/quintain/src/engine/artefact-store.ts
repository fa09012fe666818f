import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { parseJsonl, QuintainError, type Snapshot, type SnapshotEntry } from '../core/index.ts'
import { describeArtefacts } from './artefacts.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

const header = z.object({ schema: z.literal('quintain.artefacts'), v: z.literal(1), digest: z.string() })
const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), path: z.string(), mode: z.number(), base64: z.string() }),
  z.object({ kind: z.literal('folder'), path: z.string(), mode: z.number() }),
  z.object({ kind: z.literal('link'), path: z.string(), target: z.string() }),
])

/** Unpacked, more than a run keeps of one attempt. */
const mostBytes = 512 * 1024 * 1024

/**
 * Artefacts of attempts, in the private part of a run, so that they can be graded again: a file for each content,
 * `DIGEST.jsonl.gz`, however many attempts left it. Its first line is a header, each further one an entry.
 */
export class ArtefactStore {
  private folder: string | undefined

  /** From now on artefacts are kept in this folder. */
  keepIn(folder: string): void {
    this.folder = folder
  }

  /** Writes what is not there yet. Nothing is kept before there is a folder. */
  async keep(artefacts: Snapshot): Promise<void> {
    if (this.folder === undefined) return
    const { digest } = describeArtefacts(artefacts)
    const path = join(this.folder, `${digest}.jsonl.gz`)
    if ((await stat(path).catch(() => undefined)) !== undefined) return
    const lines = [
      { schema: 'quintain.artefacts', v: 1, digest },
      ...artefacts.entries.map((entry) => {
        if (entry.kind !== 'file') return entry
        const { data, ...rest } = entry
        return { ...rest, base64: Buffer.from(data).toString('base64') }
      }),
    ]
    const text = lines.map((value) => `${JSON.stringify(value)}\n`).join('')
    await mkdir(this.folder, { recursive: true })
    // Renamed into place, so that a file with this name is whole.
    const part = `${path}.${crypto.randomUUID()}.part`
    await writeFile(part, await pack(text), { mode: 0o600 })
    await rename(part, path)
  }
}

/** Artefacts as they were collected. Throws `run_corrupt` for what is not whole or not what its digest says. */
export async function readArtefacts(packed: Uint8Array): Promise<Snapshot> {
  const refuse = (what: string, cause?: unknown): never => {
    throw new QuintainError('run_corrupt', `These are no artefacts of a run: ${what}.`, { cause })
  }
  const text = await unpack(packed, { maxOutputLength: mostBytes }).catch((error: unknown) =>
    refuse('they cannot be unpacked', error),
  )
  const { records, issues } = parseJsonl(text)
  const first = header.safeParse(records[0]?.value)
  if (issues.length > 0 || !first.success) return refuse('there is no header, or a line is damaged')
  const entries = records.slice(1).map(({ value }): SnapshotEntry => {
    const entry = line.safeParse(value)
    if (!entry.success) return refuse('an entry is not as it must be')
    if (entry.data.kind !== 'file') return entry.data
    const { base64, ...rest } = entry.data
    return { ...rest, data: Buffer.from(base64, 'base64') }
  })
  const found: Snapshot = { version: 1, entries, skipped: [] }
  if (describeArtefacts(found).digest !== first.data.digest) refuse('they are not what their digest says')
  return found
}
