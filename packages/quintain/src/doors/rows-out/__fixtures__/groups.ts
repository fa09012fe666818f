import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import * as sample from '../../../core/__fixtures__/run.ts'
import { type Fault, Journal, linePart, type ManifestRecord, type OrderRecord } from '../../../core/index.ts'
import type { Talk } from '../../../rows/__fixtures__/talk.ts'
import { type ExportRowsOptions, type ExportRowsReport, exportRows, type TrainerRow } from '../index.ts'

/** A gold answer that stands in the private records and nowhere else. */
export const gold = 'GOLD-CANARY-4417'

/** An attempt at a task. `null` is unscored, a fault has no reward. */
export interface Played {
  task: string
  talk: Talk
  reward?: number | null
  fault?: Fault['owner']
  cut?: boolean
}

/** Writes a run whose orders are attempts at tasks, repeats of one task in the order in which they are given. */
export async function groupRun(
  played: readonly Played[],
  changed: (manifest: ManifestRecord) => void = () => {},
): Promise<string> {
  const dir = join(sample.temporaryFolder(), 'run')
  const manifest = sample.manifest()
  manifest.id = crypto.randomUUID()
  changed(manifest)
  const journal = await Journal.create(dir, manifest)
  const repeats = new Map<string, number>()
  const orders = played.map(({ task }, seq): OrderRecord => {
    const repeat = repeats.get(task) ?? 0
    repeats.set(task, repeat + 1)
    return { ...sample.order(seq), id: `${task}#${repeat}`, task, group: task, repeat }
  })
  await journal.appendOrders([sample.request, ...orders])
  for (const [seq, { talk, reward = 1, fault: owner, cut, task }] of played.entries()) {
    const { attempt, ...parts } = sample.entry(seq, { reward })
    const id = `${manifest.id.slice(0, 4)}-${orders[seq]!.id}`
    const names = { attempt: id, order: orders[seq]!.id, task }
    const fault: Fault | null =
      owner === undefined
        ? null
        : { owner, stage: 'model', code: 'broke', message: 'It broke.', retryable: false }
    const unscored = reward === null ? { unscored: { component: 'solved', reason: 'no_answer' } } : {}
    const { tokens } = talk
    journal.appendAttempt({
      ...parts,
      attempt: {
        ...attempt,
        ...{ id, order: orders[seq]!.id, task, repeat: orders[seq]!.repeat, fault },
        counts: { ...attempt.counts, ...(cut ? { flags: { record_cut: 1 } } : {}) },
        verdict: fault === null ? { ...attempt.verdict!, ...unscored } : null,
      },
      trajectory: linePart({ ...talk.trajectory, ...names }),
      private: linePart({
        schema: 'quintain.private',
        v: 1,
        ...names,
        secret: { gold },
        state: { gold },
        evidence: { gold },
      }),
      tokens: tokens && { bytes: tokens, crc: crc32(tokens) },
    })
  }
  await journal.close()
  return dir
}

/** The rows of some runs, and their report. */
export async function rowsOf<Row extends TrainerRow>(
  dirs: string | readonly string[],
  options: Omit<ExportRowsOptions, 'onRow'>,
): Promise<{ rows: Row[]; report: ExportRowsReport }> {
  const rows: Row[] = []
  const report = await exportRows([dirs].flat(), {
    ...options,
    onRow: (row) => void rows.push(structuredClone(row) as Row),
  })
  return { rows, report }
}
