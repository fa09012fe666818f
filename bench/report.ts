import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal, linePart, type OrderRecord } from 'quintain'
import { inFreshProcess, moduleBeside } from './fresh-process.ts'
import { madeUpManifest, madeUpOrder } from './made-up-plan.ts'
import { type Bench, figure, medianOf } from './measurement.ts'
import { inTemporaryFolder, recordedBytes } from './run-files.ts'
import { promptText } from './single-turn/text.ts'
import { timeReport } from './time-report.ts'

const reportModule = moduleBeside('./time-report', import.meta.url)
const rollouts = 100_000
const repeats = 10
const messages = 8
const messageChars = 2_250
const repetitions = 3

/** Writes a run of `rollouts` made-up rollouts through the journal that real runs use. */
export async function buildRun(dir: string): Promise<{ bytes: number }> {
  const manifest = madeUpManifest({
    id: '00000000-0000-4000-8000-000000000000',
    policy: 'openai-compatible:fake',
    repeats,
  })
  const journal = await Journal.create(dir, manifest)
  try {
    for (let from = 0; from < rollouts; from += 1_000) {
      const orders = Array.from({ length: 1_000 }, (_, i) => madeUpOrder(from + i, repeats))
      await journal.appendOrders(from === 0 ? [manifest.request, ...orders] : orders)
      for (const order of orders) {
        journal.appendAttempt(entryOf(order))
        await journal.ready()
      }
    }
  } finally {
    await journal.close()
  }
  return { bytes: recordedBytes(dir).total }
}

const isFaulted = (seq: number): boolean => seq % 211 === 0
const faulted = (): number => Math.ceil(rollouts / 211)

function entryOf(order: OrderRecord): Parameters<Journal['appendAttempt']>[0] {
  const { seq } = order
  const id = `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`
  const ids = { attempt: id, order: order.id }
  const start = Date.UTC(2026, 10, 1) + seq * 7
  const wallMs = 900 + ((seq * 7919) % 4_000) + 0.25
  const solved = (seq * 31) % 3 === 0
  // Scores that differ from rollout to rollout, as graded ones do: a report may not live on their being few.
  const format = ((seq * 7919) % 10_007) / 10_007
  const reward = Number(solved) + 0.1 * format
  const rewards = { solved: Number(solved), format }
  const fault = isFaulted(seq)
    ? ({ owner: 'provider', stage: 'model', code: 'http_500', message: 'broke', retryable: true } as const)
    : null
  const usage = { fresh: 1_200 + (seq % 300), cacheRead: 600, cacheWrite: 0, output: 400 + (seq % 211) }
  return {
    attempt: {
      schema: 'quintain.attempt',
      v: 1,
      id,
      order: order.id,
      seq,
      task: order.task,
      repeat: order.repeat,
      try: 1,
      final: true,
      start: new Date(start).toISOString(),
      end: new Date(start + wallMs).toISOString(),
      outcome: fault === null ? 'env_done' : null,
      fault,
      verdict:
        fault === null ? { reward, success: solved, rewards, metrics: { guesses: 1 + (seq % 6) } } : null,
      usage: { agent: usage },
      costUsd: { agent: usage.output * 1e-6 },
      counts: { turns: messages / 2, toolCalls: seq % 5, modelRetries: 0 },
      timing: { wallMs, agentMs: wallMs - 40, modelMs: wallMs - 60, waitMs: 0, gradeMs: 3.125 },
    },
    trajectory: linePart({
      schema: 'quintain.trajectory',
      v: 1,
      ...ids,
      task: order.task,
      seats: { agent: { policy: 'openai-compatible:fake', harness: 'chat@1' } },
      nodes: Array.from({ length: messages }, (_, i) => ({
        parent: i - 1,
        seat: 'agent',
        message: { role: i % 2 === 0 ? 'user' : 'assistant', content: promptText(seq + i, messageChars) },
        sampled: i % 2 === 1,
      })),
      calls: [],
    }),
    ...(fault === null
      ? {
          verdict: linePart({
            schema: 'quintain.verdict',
            v: 1,
            ...ids,
            rubric: 'solved*1+format*0.1',
            at: new Date(start + wallMs).toISOString(),
            reward,
            success: solved,
            components: {
              solved: { kind: 'reward', value: Number(solved), weight: 1 },
              format: { kind: 'reward', value: format, weight: 0.1 },
            },
          }),
        }
      : {}),
    private: linePart({
      schema: 'quintain.private',
      v: 1,
      ...ids,
      task: order.task,
      secret: { word: 'crane' },
    }),
  }
}

export const bench: Bench = {
  title: `Report on ${rollouts} recorded rollouts`,
  about:
    `A run folder of ${rollouts} rollouts of 20 KB, written through the journal; summarize() of it in fresh processes, ` +
    'files in the page cache. Memory is the most that the process ever held, Node itself included.',
  async run(progress) {
    const { bavail, bsize } = statfsSync(tmpdir())
    const free = bavail * bsize
    if (free < 6e9) {
      return {
        measurements: [],
        skipped: `the run takes 2.2 GB and the temporary folder has ${figure(free / 1e9)} GB free`,
      }
    }
    return inTemporaryFolder(async (folder) => {
      const dir = join(folder, 'run')
      const began = performance.now()
      const { bytes } = await inFreshProcess(import.meta.url, buildRun, [dir])
      const writeSeconds = (performance.now() - began) / 1000
      progress(`wrote ${figure(bytes / 1e9)} GB in ${figure(writeSeconds)} s`)
      const runs = []
      for (let run = 0; run < repetitions; run++) {
        runs.push(
          await inFreshProcess(reportModule, timeReport, [
            dir,
            { orders: rollouts, scored: rollouts - faulted() },
          ]),
        )
        progress(`run ${run + 1}: ${figure(runs[run]!.ms / 1000)} s`)
      }
      return {
        measurements: [
          medianOf(
            'time of summarize()',
            's',
            runs.map(({ ms }) => ms / 1000),
            { below: 5 },
          ),
          medianOf(
            'most memory of the process',
            'MB',
            runs.map(({ peakBytes }) => peakBytes / 1e6),
            { below: 300 },
          ),
          medianOf(
            'memory of the process before',
            'MB',
            runs.map(({ idleBytes }) => idleBytes / 1e6),
          ),
        ],
        notes: [
          `a rollout's records take ${figure(bytes / rollouts)} bytes over all files; writing them took ${figure(writeSeconds)} s (${figure(rollouts / writeSeconds)} rollouts a second through the journal, made up on the way).`,
        ],
      }
    })
  },
}
