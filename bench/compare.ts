import { join } from 'node:path'
import { Journal, linePart, type OrderRecord } from 'quintain'
import { inFreshProcess } from './fresh-process.ts'
import { madeUpManifest, madeUpOrder } from './made-up-plan.ts'
import { type Bench, figure, medianOf } from './measurement.ts'
import { inTemporaryFolder, recordedBytes } from './run-files.ts'
import { promptText } from './single-turn/text.ts'
import { timeCompare, timeCompareModule } from './time-compare.ts'

const rollouts = 10_000
const repetitions = 5
const usage = { fresh: 1_200, cacheRead: 600, cacheWrite: 0, output: 400 }

/** Writes a run of made-up rollouts through the journal that real runs use. `shift` moves which of them succeed. */
export async function buildComparedRun(
  dir: string,
  repeats: number,
  shift: number,
): Promise<{ bytes: number }> {
  const manifest = madeUpManifest({
    id: `run-${shift}`,
    policy: `openai-compatible:model-${shift}`,
    repeats,
  })
  const journal = await Journal.create(dir, manifest)
  try {
    const orders = Array.from({ length: rollouts }, (_, seq): OrderRecord => madeUpOrder(seq, repeats))
    await journal.appendOrders([manifest.request, ...orders])
    for (const order of orders) {
      journal.appendAttempt(entryOf(order, shift))
      await journal.ready()
    }
  } finally {
    await journal.close()
  }
  return { bytes: recordedBytes(dir).total }
}

function entryOf(order: OrderRecord, shift: number): Parameters<Journal['appendAttempt']>[0] {
  const { seq } = order
  const ids = { attempt: `${shift}-${seq}`, order: order.id }
  const start = Date.UTC(2026, 10, 1) + seq * 7
  const wallMs = 900 + ((seq * 7919) % 4_000)
  const solved = (seq * 31 + shift * (seq % 7)) % 3 === 0
  // Scores that differ from rollout to rollout, as graded ones do.
  const format = ((seq * 7919 + shift) % 10_007) / 10_007
  const reward = Number(solved) + 0.1 * format
  return {
    attempt: {
      schema: 'quintain.attempt',
      v: 1,
      id: ids.attempt,
      order: order.id,
      seq,
      task: order.task,
      repeat: order.repeat,
      try: 1,
      final: true,
      start: new Date(start).toISOString(),
      end: new Date(start + wallMs).toISOString(),
      outcome: 'env_done',
      fault: null,
      verdict: {
        reward,
        success: solved,
        rewards: { solved: Number(solved), format },
        metrics: { guesses: 1 + (seq % 6) },
      },
      usage: { agent: usage },
      costUsd: { agent: 0.0004 },
      counts: { turns: 4, toolCalls: seq % 5, modelRetries: 0 },
      timing: { wallMs, agentMs: wallMs - 40, modelMs: wallMs - 60, waitMs: 0, gradeMs: 3.125 },
    },
    trajectory: linePart({
      schema: 'quintain.trajectory',
      v: 1,
      ...ids,
      task: order.task,
      seats: { agent: { policy: 'openai-compatible:fake', harness: 'auto' } },
      nodes: [
        {
          parent: -1,
          seat: 'agent',
          message: { role: 'user', content: promptText(seq, 2_000) },
          sampled: false,
        },
      ],
      calls: [],
    }),
  }
}

export const bench: Bench = {
  title: `Compare two runs of ${rollouts} rollouts`,
  about:
    'compareRuns() of two run folders in fresh processes, files in the page cache, with its text and its JSON made: what ' +
    '`quintain compare` does once it is loaded. Once with a task for each rollout, once with ten repeats of each.',
  async run(progress) {
    return inTemporaryFolder(async (folder) => {
      const measurements = []
      const notes: string[] = []
      for (const repeats of [1, 10]) {
        const dirs = [join(folder, `a-${repeats}`), join(folder, `b-${repeats}`)] as const
        for (const [shift, dir] of dirs.entries()) {
          const { bytes } = await inFreshProcess(import.meta.url, buildComparedRun, [dir, repeats, shift])
          if (shift === 0 && repeats === 1) notes.push(`a run is ${figure(bytes / 1e6)} MB`)
        }
        const runs = []
        for (let run = 0; run < repetitions; run++) {
          runs.push(await inFreshProcess(timeCompareModule, timeCompare, [...dirs, rollouts / repeats]))
          progress(`${rollouts / repeats} tasks x ${repeats}, run ${run + 1}: ${figure(runs[run]!.ms)} ms`)
        }
        measurements.push(
          medianOf(
            `time, ${rollouts / repeats} tasks x ${repeats}`,
            's',
            runs.map(({ ms }) => ms / 1000),
            { below: 1 },
          ),
          medianOf(
            `most memory of the process, ${rollouts / repeats} tasks x ${repeats}`,
            'MB',
            runs.map(({ peakBytes }) => peakBytes / 1e6),
          ),
        )
      }
      return { measurements, notes }
    })
  },
}
