import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { folderName } from '../../core/folder-name.ts'
import { foldRun, type Sampling } from '../../core/index.ts'
import type { RolloutRun, TaskSummary } from '../../engine/index.ts'
import { clusteredMean, clusteredProportion } from '../../stats/index.ts'
import { trainableReward } from '../advantages.ts'
import type { EvaluationRecord } from '../records.ts'
import { trainingFiles } from '../training-folder.ts'
import type { SplitTasks } from './task-splits.ts'
import type { EvaluationPlan, Measured } from './train-options.ts'
import { refuseUnread, type Unread, unreadOf } from './unread.ts'

export type Role = EvaluationRecord['role']

/** What is measured of one kind of tasks, one way of playing. */
export interface Measurement {
  role: Role
  split: string
  /** 0 is greedy. */
  temperature: number
  tasks: readonly string[]
  repeats: number
}

/** Tasks that are measured where nothing is said; of those that are reported all. */
const tasksDefault = { validation: 256, train: 32, test: Number.POSITIVE_INFINITY }

/** What a plan measures: the same tasks each time, so that what is compared is the policy. */
export function measurementsOf(plan: EvaluationPlan, { names, ...tasks }: SplitTasks): Measurement[] {
  const of = (role: Role, split: string | null, wanted: Measured | false): Measurement[] => {
    if (wanted === false || split === null) return []
    const among: readonly TaskSummary[] = tasks[role].slice(0, wanted.tasks ?? tasksDefault[role])
    if (among.length === 0) return []
    const one = { role, split, tasks: among.map(({ id }) => id), repeats: wanted.repeats ?? 1 }
    // Greedy play says the same each time.
    return [
      { ...one, temperature: 1 },
      ...(plan.greedy === false ? [] : [{ ...one, temperature: 0, repeats: 1 }]),
    ]
  }
  return [
    ...of('validation', names.validation, plan.validation ?? {}),
    ...of('train', names.train, plan.train ?? {}),
    ...of('test', names.test, plan.test ?? {}),
  ]
}

/**
 * Measures the policy in the seat by an ordinary run in a folder of the training. An evaluation that broke off is made anew.
 * Undefined when it was cancelled. Throws `prompt_invalid` where no rollout could even be begun with the policy's tokens.
 */
export async function measure(
  run: RolloutRun,
  { role, split, temperature, tasks, repeats }: Measurement,
  {
    step,
    elapsedS,
    policy,
    sampling,
    signal,
  }: { step: number; elapsedS: number; policy: string; sampling: Sampling; signal?: AbortSignal },
): Promise<EvaluationRecord | undefined> {
  const name = `${folderName(split) || role}-${step}-${temperature === 0 ? 'greedy' : 't1'}`
  const folder = `${trainingFiles.evals}/${name}`
  const dir = join(run.dir, folder)
  await rm(dir, { recursive: true, force: true })
  const cancel = signal === undefined ? {} : { signal, graceMs: 0 }
  const began = performance.now()
  const asked = {
    dir,
    tasks,
    repeats,
    policy: `${policy}@step-${step}`,
    sampling: { ...sampling, temperature },
  }
  const end = await run.measure({ ...asked, ...cancel })
  if (end.stop?.code === 'cancelled') return undefined
  const { unread, ...result } = await resultOf(dir)
  refuseUnread(unread)
  const seconds = (performance.now() - began) / 1000
  const head = { schema: 'quintain.train-step', v: 1, kind: 'evaluation' } as const
  const at = new Date().toISOString()
  return { ...head, step, at, elapsedS, split, role, temperature, ...result, seconds, run: folder }
}

interface Result
  extends Pick<EvaluationRecord, 'tasks' | 'rollouts' | 'scored' | 'success' | 'interval' | 'reward'> {
  /** Of each rollout; undefined where the policy has read some of what it was told. */
  unread: (Unread | undefined)[]
}

/** Success (the reward, where the environment does not say what success is) with its interval over tasks. */
async function resultOf(dir: string): Promise<Result> {
  const { states } = await foldRun(dir, ({ verdict, fault, outcome, counts }) => {
    return { verdict, fault, outcome, counts }
  })
  const successes = new Map<string, number[]>()
  const rewards = new Map<string, number[]>()
  const unread: Result['unread'] = []
  let scored = 0
  for (const { order, status, chosen } of states) {
    const { reward = null, success = null } = (status === 'scored' && chosen?.verdict) || {}
    unread.push(chosen && unreadOf(chosen))
    if (reward === null) continue
    scored++
    listIn(rewards, order.task).push(trainableReward(reward, `order ${order.id} of ${basename(dir)}`))
    if (success !== null) listIn(successes, order.task).push(Number(success))
  }
  const byTask = { success: clusteredProportion(successes.values()), reward: clusteredMean(rewards.values()) }
  return {
    tasks: new Set(states.map(({ order }) => order.task)).size,
    rollouts: states.length,
    scored,
    success: byTask.success.mean,
    interval: byTask.success.mean === null ? byTask.reward.interval : byTask.success.interval,
    reward: byTask.reward.mean,
    unread,
  }
}

function listIn(lists: Map<string, number[]>, name: string): number[] {
  const found = lists.get(name) ?? []
  lists.set(name, found)
  return found
}
