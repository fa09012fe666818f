import {
  type AttemptRecord,
  type Fault,
  Journal,
  linePart,
  type ManifestRecord,
  type MessageNode,
  noUsage,
  type Outcome,
  type PrivateRecord,
  type TrajectoryRecord,
  type VerdictRecord,
} from '../core/index.ts'

/** One attempt of a made-up run. Whatever is not said is unremarkable. */
export interface SampleAttempt {
  reward?: number | null
  success?: boolean | null
  outcome?: Outcome | null
  stop?: string
  fault?: Partial<Fault>
  unscored?: string
  rewards?: Record<string, number | null>
  metrics?: Record<string, number | null>
  final?: boolean
  usage?: AttemptRecord['usage']
  costUsd?: AttemptRecord['costUsd']
  counts?: Partial<AttemptRecord['counts']>
  timing?: Partial<AttemptRecord['timing']>
  start?: string
  end?: string
  nodes?: MessageNode[]
  calls?: TrajectoryRecord['calls']
  leaves?: TrajectoryRecord['leaves']
  private?: Partial<PrivateRecord>
}

/** One order of a made-up run; without attempts it is pending. */
export interface SampleOrder {
  task: string
  repeat?: number
  attempts: readonly SampleAttempt[]
  taskDigest?: string
  contentDigest?: string
}

export interface SampleRun {
  orders: readonly SampleOrder[]
  environment?: Partial<ManifestRecord['environment']>
  policy?: string
  manifest?: Partial<ManifestRecord>
}

function manifestOf({ environment, policy = 'script:sample', manifest, orders }: SampleRun): ManifestRecord {
  return {
    schema: 'quintain.run',
    v: 1,
    id: 'sample',
    created: '2026-11-01T12:00:00.000Z',
    quintain: '0.1.0',
    node: '24.0.0',
    environment: {
      name: 'sample',
      version: '1.0.0',
      contract: 1,
      digest: '0'.repeat(64),
      reference: './sample',
      options: {},
      rewards: { solved: { kind: 'reward', weight: 1 } },
      metrics: [],
      success: true,
      ...environment,
    },
    rubric: 'rubric-1',
    seats: { agent: { policy, harness: 'auto' } },
    seed: '0',
    limits: {},
    isolation: 'inline',
    maxTries: 3,
    request: { schema: 'quintain.request', v: 1, repeats: 1, limit: orders.length },
    ...manifest,
  }
}

const oneSecond = { wallMs: 1000, agentMs: 900, modelMs: 800, waitMs: 0, gradeMs: 50 }

/**
 * Writes a run folder from a short description of what happened, through the journal that real runs use. For tests of
 * whatever reads runs.
 */
export async function writeSampleRun(dir: string, run: SampleRun): Promise<void> {
  const manifest = manifestOf(run)
  const journal = await Journal.create(dir, manifest)
  const repeats = new Map<string, number>()
  try {
    const orders = run.orders.map(({ task, repeat, taskDigest = '0'.repeat(32), contentDigest }, seq) => {
      const next = repeat ?? repeats.get(task) ?? 0
      repeats.set(task, next + 1)
      return {
        schema: 'quintain.order',
        v: 1,
        id: `${task}#${next}`,
        seq,
        task,
        index: seq,
        split: 'test',
        repeat: next,
        group: task,
        seed: seq,
        taskDigest,
        ...(contentDigest === undefined ? {} : { contentDigest }),
      } as const
    })
    await journal.appendOrders([manifest.request, ...orders])
    for (const [seq, order] of orders.entries()) {
      const { attempts } = run.orders[seq]!
      for (const [index, sample] of attempts.entries()) {
        const number = index + 1
        const id = `${order.id}.${number}`
        const fault: Fault | null = sample.fault
          ? {
              owner: 'provider',
              stage: 'model',
              code: 'http_500',
              message: 'broke',
              retryable: true,
              ...sample.fault,
            }
          : null
        const cancelled = sample.outcome === 'cancelled'
        const reward = sample.unscored === undefined ? (sample.reward ?? null) : null
        const graded = !cancelled && fault === null
        const success = sample.success ?? (reward === null ? null : reward === 1)
        const verdict: VerdictRecord | undefined = graded
          ? {
              schema: 'quintain.verdict',
              v: 1,
              attempt: id,
              order: order.id,
              rubric: manifest.rubric,
              at: '2026-11-01T12:00:01.000Z',
              reward,
              success,
              components: Object.fromEntries(
                Object.entries(sample.rewards ?? { solved: reward }).map(([name, value]) => [
                  name,
                  {
                    kind: 'reward',
                    value,
                    weight: 1,
                    ...(sample.unscored ? { reason: sample.unscored } : {}),
                  },
                ]),
              ),
              ...(sample.unscored === undefined
                ? {}
                : { unscored: { component: 'solved', reason: sample.unscored } }),
            }
          : undefined
        journal.appendAttempt({
          attempt: {
            schema: 'quintain.attempt',
            v: 1,
            id,
            order: order.id,
            seq,
            task: order.task,
            repeat: order.repeat,
            try: number,
            final: sample.final ?? (!cancelled && number === attempts.length),
            start: sample.start ?? '2026-11-01T12:00:00.000Z',
            end: sample.end ?? '2026-11-01T12:00:01.000Z',
            outcome: sample.outcome === undefined ? (fault ? null : 'completed') : sample.outcome,
            ...(sample.stop === undefined ? {} : { stop: sample.stop }),
            fault,
            verdict:
              verdict === undefined
                ? null
                : {
                    reward,
                    success,
                    rewards: sample.rewards ?? { solved: reward },
                    metrics: sample.metrics ?? {},
                    ...(verdict.unscored === undefined ? {} : { unscored: verdict.unscored }),
                  },
            usage: sample.usage ?? { agent: noUsage },
            costUsd: sample.costUsd ?? { agent: 0 },
            counts: { turns: 1, toolCalls: 0, modelRetries: 0, ...sample.counts },
            timing: { ...oneSecond, ...sample.timing },
          },
          trajectory: linePart({
            schema: 'quintain.trajectory',
            v: 1,
            attempt: id,
            order: order.id,
            task: order.task,
            seats: { agent: { policy: run.policy ?? 'script:sample', harness: 'chat@1' } },
            nodes: sample.nodes ?? [],
            calls: sample.calls ?? [],
            ...(sample.leaves === undefined ? {} : { leaves: sample.leaves }),
          } satisfies TrajectoryRecord),
          ...(verdict === undefined ? {} : { verdict: linePart(verdict) }),
          ...(sample.private === undefined
            ? {}
            : {
                private: linePart({
                  schema: 'quintain.private',
                  v: 1,
                  attempt: id,
                  order: order.id,
                  task: order.task,
                  ...sample.private,
                } satisfies PrivateRecord),
              }),
        })
      }
    }
  } finally {
    await journal.close()
  }
}
