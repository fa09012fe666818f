import type { ManifestRecord, OrderRecord } from 'quintain'

/** The manifest of a run that nobody played: a bench of what reads runs needs many orders and no agent. */
export function madeUpManifest({
  id,
  policy,
  repeats,
}: {
  id: string
  policy: string
  repeats: number
}): ManifestRecord {
  return {
    schema: 'quintain.run',
    v: 1,
    id,
    created: '2026-11-01T12:00:00.000Z',
    quintain: '0.1.0',
    node: process.versions.node,
    environment: {
      name: 'bench',
      version: '1.0.0',
      contract: 1,
      digest: '0'.repeat(64),
      reference: './bench',
      options: {},
      rewards: { solved: { kind: 'reward', weight: 1 }, format: { kind: 'reward', weight: 0.1 } },
      metrics: ['guesses'],
      success: true,
    },
    rubric: 'solved*1+format*0.1',
    seats: { agent: { policy, harness: 'auto' } },
    seed: '0',
    limits: {},
    isolation: 'worker',
    maxTries: 3,
    request: { schema: 'quintain.request', v: 1, repeats },
  }
}

/** The order in a place of such a plan: each task is ordered `repeats` times in a row. */
export function madeUpOrder(seq: number, repeats: number): OrderRecord {
  const index = Math.floor(seq / repeats)
  const task = `task-${String(index).padStart(6, '0')}`
  return {
    schema: 'quintain.order',
    v: 1,
    id: `${task}#${seq % repeats}`,
    seq,
    task,
    index,
    split: 'test',
    repeat: seq % repeats,
    group: task,
    seed: seq,
    taskDigest: '0'.repeat(32),
    contentDigest: String(index).padStart(16, '0'),
  }
}
