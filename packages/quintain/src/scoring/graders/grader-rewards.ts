import {
  FaultError,
  type Graded,
  type RewardContext,
  type RewardFunction,
  type Task,
  type Transcript,
  unscored,
} from '../../core/index.ts'
import { pythonIn } from '../python/python-in.ts'
import type { Embed, Grader, GraderErrorCode, GraderItem, GraderPolicy, GraderResult } from './grader.ts'
import { sampleOf } from './grader-sample.ts'
import { runGrader } from './run-grader.ts'

export interface GraderRewardOptions<Data, Secret> {
  /** The row of a task: what templates name `item`. It holds gold, so it is a part of the secret as a rule. */
  item: (task: Task<Data, Secret>) => GraderItem
  /** Name of the reward; `grader` when absent. */
  name?: string
  policy?: GraderPolicy
  /** Vectors for `cosine`. */
  embed?: Embed
}

type GraderReward<Data, Secret> = {
  weight: number
  reward: RewardFunction<unknown, Data, Secret, unknown>
}

/**
 * Rewards of an environment that a hosted grader judges: its score, and with weight 0 what each part of a `multi` came to.
 * It runs once per attempt. The environment names `modelsOf(grader)` as its judges, and declares a sandbox for Python.
 *
 * A grader that could not run is a fault of the judge or the grader, with the vendor's code. What it came to is private
 * evidence of the reward.
 *
 * @example
 * environment({ tasks, judges: modelsOf(grader), rewards: graderRewards(grader, { item: ({ secret }) => secret.item }) })
 */
export function graderRewards<Data, Secret>(
  grader: Grader,
  options: GraderRewardOptions<Data, Secret>,
): Record<string, GraderReward<Data, Secret>> {
  const { name = 'grader' } = options
  const results = new WeakMap<Transcript, Promise<GraderResult>>()
  const resultOf = (context: RewardContext<unknown, Data, Secret, unknown>) => {
    const { transcript } = context
    const result = results.get(transcript) ?? run(grader, context, options)
    results.set(transcript, result)
    return result
  }
  const rewards: [string, GraderReward<Data, Secret>][] = [
    [name, { weight: 1, reward: async (context) => gradedOf(await resultOf(context)) }],
  ]
  if (grader.type === 'multi')
    for (const part of Object.keys(grader.graders))
      rewards.push([
        part === name ? `${part}_part` : part,
        {
          weight: 0,
          reward: async (context) => {
            const { parts = {} } = await resultOf(context)
            return parts[part]?.score ?? unscored(parts[part]?.error?.code ?? 'not_run')
          },
        },
      ])
  return Object.fromEntries(rewards)
}

function run<Data, Secret>(
  grader: Grader,
  { task, transcript, judge, sandbox, signal }: RewardContext<unknown, Data, Secret, unknown>,
  { item, policy, embed }: GraderRewardOptions<Data, Secret>,
): Promise<GraderResult> {
  return runGrader({
    grader,
    item: item(task),
    sample: sampleOf(transcript),
    means: { ask: judge, python: pythonIn(sandbox), ...(embed === undefined ? {} : { embed }) },
    ...(policy === undefined ? {} : { policy }),
    signal,
  })
}

function gradedOf(result: GraderResult): Graded {
  if (result.score !== null) return { value: result.score, explain: result }
  const { error, fault } = result
  const code = error?.code ?? 'other_error'
  const owner = fault?.owner ?? (isOfJudge(code) ? 'judge' : 'grader')
  const thrown = new FaultError({
    owner,
    code,
    // Words of a judge or of a Python source may quote gold, and faults are published.
    message: `the grader gave no score: ${code}${fault === undefined ? '' : ` (${fault.code})`}`,
    retryable: fault?.retryable ?? mayDoBetter.has(code),
  })
  // The stack is kept in the private record alone: whoever holds the grader reads there which package is missing.
  thrown.stack = `${thrown.stack ?? thrown.message}\n${whyNot(result)}`
  throw thrown
}

/** What the grader and its parts say of why there is no score, for the private record. */
function whyNot(result: GraderResult): string {
  const parts = Object.values(result.parts ?? {}).filter(({ error }) => error !== undefined)
  return [result, ...parts]
    .map(({ name, error }) => `grader ${name}: ${(error?.message ?? 'no reason').slice(0, 4000)}`)
    .join('\n')
}

/** Another reply of the same judge may be one. */
const mayDoBetter = new Set<GraderErrorCode>(['model_grader_parse_error', 'out_of_range'])

function isOfJudge(code: GraderErrorCode): boolean {
  return code.startsWith('model_grader_') || code === 'out_of_range'
}
