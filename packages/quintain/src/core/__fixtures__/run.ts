import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type AttemptEntry, Journal, linePart } from '../journal.ts'
import {
  type ManifestRecord,
  noUsage,
  type OrderRecord,
  type RequestRecord,
  type VerdictLine,
  type VerdictSummary,
} from '../records.ts'

const made: string[] = []
process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A folder that is removed with this process. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'quintain-core-'))
  made.push(dir)
  return dir
}

export const request: RequestRecord = { schema: 'quintain.request', v: 1, repeats: 1 }

export function manifest(): ManifestRecord {
  return {
    schema: 'quintain.run',
    v: 1,
    id: 'run-1',
    created: '2026-11-01T12:00:00.000Z',
    quintain: '0.1.0',
    node: '24.0.0',
    environment: {
      name: 'sample',
      version: '1.0.0',
      contract: 1,
      digest: 'inline',
      reference: 'inline',
      options: {},
      rewards: { solved: { kind: 'reward', weight: 1 } },
      metrics: [],
      success: true,
    },
    rubric: 'rubric-1',
    seats: { agent: { policy: 'script:sample', harness: 'auto' } },
    seed: '0',
    limits: {},
    isolation: 'inline',
    maxTries: 3,
    request,
  }
}

export function order(seq: number): OrderRecord {
  return {
    schema: 'quintain.order',
    v: 1,
    id: `task-${seq}#0`,
    seq,
    task: `task-${seq}`,
    index: seq,
    split: 'test',
    repeat: 0,
    group: `task-${seq}`,
    seed: seq,
    taskDigest: '0'.repeat(32),
  }
}

export function summary(reward: number | null, pending = false): VerdictSummary {
  return {
    reward,
    success: reward === null ? null : reward === 1,
    rewards: { solved: reward },
    metrics: {},
    ...(pending ? { pending: 'group' } : {}),
  }
}

export interface EntryOptions {
  id?: string
  reward?: number | null
  pending?: boolean
  tokens?: boolean
  /** Something to make the parts as long as a test needs them. */
  filler?: string
}

/** An attempt at the order in place `seq`, with all four parts. */
export function entry(seq: number, options: EntryOptions = {}): AttemptEntry {
  const { id = `attempt-${seq}`, reward = 1, pending = false, tokens = true, filler = '' } = options
  const { id: orderId, task, repeat } = order(seq)
  const names = { attempt: id, order: orderId }
  const chunk = Buffer.from(Int32Array.from([seq, 1, 2, 3]).buffer)
  return {
    attempt: {
      schema: 'quintain.attempt',
      v: 1,
      id,
      order: orderId,
      seq,
      task,
      repeat,
      try: 1,
      final: true,
      start: '2026-11-01T12:00:00.000Z',
      end: '2026-11-01T12:00:01.000Z',
      outcome: 'completed',
      fault: null,
      verdict: summary(reward, pending),
      usage: { agent: noUsage },
      costUsd: { agent: 0.5 },
      counts: { turns: 1, toolCalls: 0, modelRetries: 0 },
      timing: { wallMs: 1000, agentMs: 900, modelMs: 800, waitMs: 0, gradeMs: 5 },
    },
    trajectory: linePart({
      schema: 'quintain.trajectory',
      v: 1,
      ...names,
      task,
      seats: { agent: { policy: 'script:sample', harness: 'chat@1' } },
      nodes: [
        {
          parent: -1,
          seat: 'agent',
          message: { role: 'user', content: `say ${seq}\u2028${filler}` },
          sampled: false,
        },
      ],
      calls: [],
    }),
    verdict: linePart({
      schema: 'quintain.verdict',
      v: 1,
      ...names,
      rubric: 'rubric-1',
      at: '2026-11-01T12:00:01.000Z',
      reward,
      success: reward === 1,
      components: { solved: { kind: 'reward', value: reward, weight: 1 } },
    }),
    private: linePart({ schema: 'quintain.private', v: 1, ...names, task, secret: { gold: `gold ${seq}` } }),
    ...(tokens ? { tokens: { bytes: chunk, crc: crc32(chunk) } } : {}),
  }
}

/** A later verdict on the attempt of `entry(seq)`. */
export function laterVerdict(seq: number, reward: number | null, id = `attempt-${seq}`) {
  const line: Omit<VerdictLine, 'part'> = {
    schema: 'quintain.verdict-summary',
    v: 1,
    attempt: id,
    order: order(seq).id,
    seq,
    verdict: summary(reward),
  }
  const part = linePart({
    schema: 'quintain.verdict',
    v: 1,
    attempt: id,
    order: order(seq).id,
    rubric: 'rubric-1',
    at: '2026-11-01T12:00:02.000Z',
    reward,
    success: reward === 1,
    components: { rank: { kind: 'group', value: reward, weight: 1 } },
  })
  return { line, part }
}

/** A run of so many orders, each with its attempt. */
export async function writeRun(dir: string, orders: number, options: EntryOptions = {}): Promise<void> {
  const journal = await Journal.create(dir, manifest())
  await journal.appendOrders([request, ...Array.from({ length: orders }, (_, seq) => order(seq))])
  for (let seq = 0; seq < orders; seq++) journal.appendAttempt(entry(seq, options))
  await journal.close()
}
