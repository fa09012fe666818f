import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SampleOrder, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { summarize } from '../../packages/quintain/src/report/summarize.ts'
import {
  type BootstrapInterval,
  bootstrapIntervalAsync,
  clusteredMean,
  coverageOf,
  mean,
  overTasks,
  pairedDifference,
  passAtK,
  passHatK,
  reducerNamed,
  type Sample,
  standardError,
  taskCoverage,
  wilsonInterval,
  withRepeats,
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

/** Scores as they are, or a range of whole numbers in words: `0..99`. */
function scoresOf(scores: unknown): number[] {
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)$/.exec(String(scores)) ?? []
  if (from === undefined) return (scores as (number | null)[]).map((score) => score ?? Number.NaN)
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i)
}

function bootstrap({
  scores,
  level,
  resamples,
  method,
  seed,
  fallback_method,
}: Input): Promise<BootstrapInterval> {
  return bootstrapIntervalAsync(
    scoresOf(scores).map((score) => [score]),
    {
      ...(level === undefined ? {} : { level: Number(level) }),
      ...(resamples === undefined ? {} : { resamples: Number(resamples) }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(String(method).toLowerCase() === 'bca' ? { method: 'bca' } : { method: 'percentile' }),
      fallback: /clopper|exact|beta/i.test(String(fallback_method)) ? 'clopper_pearson' : 'wilson',
    },
  )
}

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
    const found = overTasks(passHatK, trials as Record<string, (number | null)[]>, Number(k))
    return { value: found.value, tasks_without_enough_trials: found.tasksWithoutEnoughTrials }
  },

  'stats.bootstrap_ci': async (input) => {
    const found = await bootstrap(input)
    const degenerate = found.reason === 'no_spread'
    return {
      mean: found.mean,
      low: found.interval?.[0] ?? null,
      high: found.interval?.[1] ?? null,
      degenerate,
      fallback: found.fallback?.interval,
      fallback_method: found.fallback?.method,
      method: found.method,
      ...(found.reason === undefined || degenerate ? {} : { error: found.reason }),
    }
  },

  'stats.bootstrap_ci.repeat': async ({ runs, ...input }) => {
    const scores = input['scores'] ?? [0, 1, 1, 0, 1, 0.5, 0.25, 1, 0, 1]
    const seen = new Set<string>()
    for (let run = 0; run < Number(runs); run++)
      seen.add(JSON.stringify(await bootstrap({ ...input, scores })))
    return { identical: seen.size === 1 }
  },

  // Another number of repeats does not change how they are reduced.
  'run.config': ({ task_epochs, cli_epochs }) => {
    const { count = 1, reducer: name = 'mean' } = (task_epochs ?? {}) as { count?: number; reducer?: string }
    const reducer = reducerNamed(name)
    if (reducer === null) return { error: 'reducer_unknown', message: `there is no reducer ${name}` }
    const planned = withRepeats({ repeats: count, reducer }, cli_epochs == null ? count : Number(cli_epochs))
    return { count: planned.repeats, reducer: planned.reducer, too_few: planned.short }
  },

  'stats.paired': ({ a, b }) => {
    const side = (scores: unknown) => new Map(Object.entries(scores as Record<string, number | null>))
    const { pairs, difference, dropped, p, interval } = pairedDifference(side(a), side(b))
    return { n_pairs: pairs, mean_diff: difference, dropped, p, ci: interval }
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
