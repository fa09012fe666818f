import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SampleOrder, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { summarize } from '../../packages/quintain/src/report/summarize.ts'
import {
  clusteredMean,
  coverageOf,
  mean,
  overTasks,
  pairedDifference,
  passAtK,
  passHatK,
  type Sample,
  standardError,
  taskCoverage,
  wilsonInterval,
} from '../../packages/quintain/src/stats/index.ts'

type Input = Record<string, unknown>

/** The report of a made-up run, read back from its folder. */
async function reportOf(orders: readonly SampleOrder[]) {
  const root = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  try {
    await writeSampleRun(join(root, 'run'), { orders })
    return await summarize(join(root, 'run'))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** What a word, or an object with `score` and `error`, says of a trial: a machine's fault has no score, a timeout of the agent is a failure. */
function sampleOf(outcome: unknown): Sample {
  if (typeof outcome === 'number') return { score: outcome }
  if (typeof outcome === 'object' && outcome !== null) {
    const { score, error } = outcome as { score?: number | null; error?: unknown }
    return { score: score ?? null, error: Boolean(error) }
  }
  if (outcome === 'success' || outcome === 'pass') return { score: 1 }
  if (outcome === 'failure' || outcome === 'fail' || outcome === 'timeout' || outcome === 'empty')
    return { score: 0 }
  if (outcome === 'unscored' || outcome === null) return { score: null }
  return { score: null, error: true }
}

const valueOrError = (found: { value: number | null; reason?: string | undefined }) =>
  found.value === null ? { value: null, error: found.reason } : { value: found.value }

export const ops: Record<string, (input: Input) => unknown> = {
  'stats.mean': ({ scores }) => mean(scores as (number | null)[]),

  'stats.stderr': ({ scores }) => {
    const { stderr, interval, reason } = standardError(scores as number[])
    return { stderr, ci: interval, reason }
  },

  'stats.stderr_clustered': ({ clusters, correction }) => {
    const found = clusteredMean(Object.values(clusters as Record<string, number[]>), {
      correction: correction === 'none' ? 'none' : 'C/(C-1)',
    })
    return { ...found, naive_stderr: found.naiveStderr }
  },

  'stats.ci_proportion': ({ k, n, level }) => {
    const interval = wilsonInterval(Number(k), Number(n), level === undefined ? 0.95 : Number(level))
    return { low: interval?.[0] ?? null, high: interval?.[1] ?? null }
  },

  'stats.pass_at_k': ({ n, c, k }) => valueOrError(passAtK(Number(n), Number(c), Number(k))),
  'stats.pass_hat_k': ({ n, c, k }) => valueOrError(passHatK(Number(n), Number(c), Number(k))),
  'stats.pass_hat_k.tasks': ({ trials, k }) => {
    const found = overTasks(passHatK, trials as Record<string, number[]>, Number(k))
    return { value: found.value, tasks_without_enough_trials: found.tasksWithoutEnoughTrials }
  },

  'stats.paired': ({ a, b }) => {
    const side = (scores: unknown) => new Map(Object.entries(scores as Record<string, number | null>))
    const { pairs, difference, dropped } = pairedDifference(side(a), side(b))
    return { n_pairs: pairs, mean_diff: difference, dropped }
  },

  // Of all that was planned: what gave no patch failed, what gave no result is not a success either.
  'stats.rate': ({ total, resolved = 0, unresolved = 0, empty_patch = 0, error = 0 }) => {
    const trials = (count: unknown, sample: Sample) => Array<Sample>(Number(count)).fill(sample)
    const found = coverageOf(
      [
        ...trials(resolved, { score: 1 }),
        ...trials(unresolved, { score: 0 }),
        ...trials(empty_patch, { score: 0 }),
        ...trials(error, { score: null, error: true }),
      ],
      { planned: Number(total) },
    )
    return { rate: found.low, denominator: found.planned }
  },

  'stats.summary': ({ planned, outcomes }) => {
    const found = coverageOf(
      (outcomes as unknown[]).map(sampleOf),
      planned === undefined ? {} : { planned: Number(planned) },
    )
    return {
      ...found,
      headline_valid: found.headlineValid,
      completed_without_error: found.completedWithoutError,
    }
  },

  'stats.summary.tasks': ({ planned_tasks, outcomes }) => {
    const tasks = Object.values(outcomes as Record<string, unknown[]>)
    const found = taskCoverage(
      tasks.map((trials) => trials.map((trial) => sampleOf(trial).score)),
      planned_tasks === undefined ? undefined : Number(planned_tasks),
    )
    return {
      scored_tasks: found.scoredTasks,
      planned_tasks: found.plannedTasks,
      headline_valid: found.headlineValid,
    }
  },

  'run.cancel': async ({ scored, planned }) => {
    const summary = await reportOf(
      Array.from({ length: Number(planned) }, (_, i) => ({
        task: `t${i}`,
        attempts: i < Number(scored) ? [{ reward: 1 }] : [{ outcome: 'cancelled' as const }],
      })),
    )
    return {
      results_present: summary.reward.observed !== null,
      status: summary.status.cancelled > 0 ? 'cancelled' : summary.complete ? 'complete' : 'pending',
      n: summary.reward.n,
    }
  },

  // A second sitting of a run: metrics are over what both brought.
  'run.resume.metrics': async ({ first, second }) => {
    const summary = await reportOf(
      Array.from({ length: Number(first) + Number(second) }, (_, i) => ({
        task: `t${i}`,
        attempts: i < Number(first) ? [{ reward: 1 }] : [{ outcome: 'cancelled' as const }, { reward: 1 }],
      })),
    )
    return { metrics_over: summary.reward.n }
  },
}
