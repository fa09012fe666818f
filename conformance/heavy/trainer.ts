import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { readEpisodes } from '../../packages/quintain/src/doors/episodes/read-episodes.ts'
import type { Tally } from '../tally.ts'
import type { TrainedTask } from './training.ts'
import type { Rollout, TrainerStep } from './transcript.ts'

/** What a trainer is given. */
export interface Wish extends Record<string, unknown> {
  /** Address of the server. */
  url: string
  split: string
  steps: number
  tasks: readonly TrainedTask[]
}

/** What a trainer prints. */
export interface Told {
  versions: Record<string, string>
  rollouts: Rollout[]
  steps: TrainerStep[]
  /** Whether any weight has changed. */
  learnt: boolean
}

/** Runs one of the Python scripts beside this file until it has done its steps. */
export function train(interpreter: string, script: string, wish: Wish): Promise<Told> {
  return new Promise((resolve, reject) => {
    const child = spawn(interpreter, [join(import.meta.dirname, script)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // One address for both halves of the OpenReward service.
      env: { PATH: process.env['PATH'], OPENREWARD_API_URL: wish.url, OPENREWARD_SESSION_URL: wish.url },
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(JSON.parse(said) as Told) : reject(new Error(`${script} ended with ${code}`)),
    )
    child.stdin.end(JSON.stringify(wish))
  })
}

/** Holds what a trainer counted and logged against the run folder of the server, and against what was wished. */
export async function checkTraining(
  tally: Tally,
  { name, told, wish, run }: { name: string; told: Told; wish: Wish; run: string },
): Promise<void> {
  const same = (what: string, actual: unknown, expected: unknown) =>
    tally.check(`${name}: ${what}`, actual, expected)
  const { rollouts, steps, learnt } = told
  same('rollouts', rollouts.length, wish.steps * 2 * wish.tasks.length)
  same('each in a session of its own', new Set(rollouts.map(({ session }) => session)).size, rollouts.length)
  const scored = (await readEpisodes(run)).episodes.flatMap(({ task, end }) =>
    end.kind === 'scored' ? [`${task} ${Math.fround(end.reward)}`] : [],
  )
  const counted = rollouts.flatMap(({ id, reward }) => (reward === null ? [] : [`${id} ${reward}`]))
  same('the run folder has the rewards that were counted, and no more', counted.sort(), scored.sort())
  same('steps', steps.length, wish.steps)
  const endless = steps.filter(({ loss, grad_norm }) => loss === null || grad_norm === null)
  same('every loss and gradient is finite', endless, [])
  const differed = rollouts.some(({ step, id, reward }) =>
    rollouts.some((other) => other.step === step && other.id === id && isAbove(other.reward, reward)),
  )
  same('weights moved if the rewards of a group differed', learnt, differed)
}

/** Whether both are numbers, and the first the greater one. */
function isAbove(one: number | null, other: number | null): boolean {
  return one !== null && other !== null && one > other
}
