import { join } from 'node:path'
import { foldRun, readTrajectory } from '../../core/index.ts'
import { chatRenderer } from '../chat-renderer.ts'
import { createEmbedded } from '../embedded/index.ts'
import type { Learner } from '../engine.ts'
import { examplesOf } from '../examples.ts'
import { imitate } from '../imitate.ts'
import { type TrainOptions, train } from '../loop/index.ts'
import { recipe } from '../recipes.ts'
import type { StepRecord } from '../records.ts'
import type { Renderer } from '../renderer.ts'
import { readTraining } from '../training-folder.ts'
import { type Played, playedOf, type Try } from './played.ts'

/** What a policy learned from the rewards alone. */
export interface Learned {
  steps: StepRecord[]
  /** Why it ended, in the words of the training. */
  end: string
  /** Its best rollouts of the last half of the steps, by reward; those that say the same counted once. */
  best: Played[]
}

/** Options of runs and trainings that a probe takes as they are. */
export type SameForProbe =
  | 'options'
  | 'limits'
  | 'isolation'
  | 'sandbox'
  | 'judges'
  | 'seats'
  | 'workers'
  | 'boxes'
  | 'concurrency'
  | 'openSandbox'
  | 'cwd'

export interface LearnOptions {
  /** What environment is trained on, and how; everything else is the probe's. */
  training: Pick<TrainOptions, 'env' | 'tasks' | SameForProbe>
  /** Of the probe; the training lies in `training/`. */
  dir: string
  split: string
  seed: string
  steps: number
  seconds: number | undefined
  threads: number | undefined
  shadow: string | undefined
  /** A policy to go on from, in place of a blind one. Who opened it closes it. */
  policy: { learner: Learner; renderer: Renderer } | undefined
  signal: AbortSignal | undefined
  onStep: ((step: StepRecord) => void) | undefined
}

/** Of the blind policy: enough for a few hundred bytes of its own. */
const shape = { layers: 2, width: 64, heads: 4, feedForward: 256, context: 512 }
/** Bytes of one reply. */
const longestReply = 200
/** Scripts that paid best, which the blind policy is shown as often as all together. */
const mostBest = 10
const warmSteps = 150
const bestKept = 24

/**
 * Trains a policy that sees nothing of a task: it knows when it is its turn, and what it said before. What it learns to earn
 * is earned by anybody. It begins from what the scripts said, half of it what was paid, and goes on by group-relative
 * policy gradient.
 */
export async function learn(tries: readonly Try[], options: LearnOptions): Promise<Learned> {
  const given = options.policy
  const { learner, renderer } = given ?? (await blindPolicy(options))
  const dir = join(options.dir, 'training')
  try {
    if (given === undefined) await warmStart(tries, { learner, renderer, seed: options.seed })
    const { says } = await train({
      ...options.training,
      dir,
      learner,
      renderer,
      seed: options.seed,
      steps: options.steps,
      algorithm: recipe('grpo', {
        groups: 6,
        groupSize: 16,
        minibatches: 2,
        normalise: 'token',
        adam: { learningRate: 1e-3, decayTo: 0.3, gradClipNorm: 0.5 },
      }),
      splits: { train: options.split, validation: false, test: false },
      evaluate: false,
      checkpointEvery: options.steps,
      keep: 'best_and_last',
      sampling: { temperature: 1, ...(given === undefined ? { maxTokens: longestReply } : {}) },
      ...(options.seconds === undefined ? {} : { budget: { seconds: options.seconds } }),
      ...(options.shadow === undefined ? {} : { shadow: options.shadow }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
    })
    options.signal?.throwIfAborted()
    const { lines } = await readTraining(dir)
    const steps = lines.filter((line) => line.kind === 'step')
    return { steps, end: says, best: await bestOf(dir, options.shadow) }
  } finally {
    if (given === undefined) await learner.close()
  }
}

async function blindPolicy({
  seed,
  threads,
}: LearnOptions): Promise<{ learner: Learner; renderer: Renderer }> {
  const renderer = chatRenderer({ vocabulary: 'bytes', omit: ['system', 'observations'] })
  const learner = await createEmbedded({
    shape: { ...shape, vocabulary: renderer.vocabulary },
    seed,
    ...(threads === undefined ? {} : { threads }),
  })
  return { learner, renderer }
}

async function warmStart(
  tries: readonly Try[],
  { learner, renderer, seed }: { learner: Learner; renderer: Renderer; seed: string },
): Promise<void> {
  const firsts = [...Map.groupBy(tries, ({ script }) => script).values()].flatMap(([first]) => first ?? [])
  const spoken = firsts.filter(({ acts }) => acts.length > 0)
  const rewards = spoken.flatMap(({ reward }) => reward ?? [])
  const least = rewards.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const best = spoken
    .filter(({ reward }) => reward !== null && reward > least)
    .sort((a, b) => b.reward! - a.reward!)
    .slice(0, mostBest)
  // Half of what is shown is what was paid.
  const times = best.length === 0 ? 0 : Math.ceil(spoken.length / best.length)
  const shown = [...spoken, ...Array.from({ length: times }, () => best).flat()]
  const demonstrations = shown.map(({ messages, order }) => ({
    messages: [...messages],
    trained: messages.map(({ role }) => role === 'assistant'),
    from: order,
    task: null,
    reward: null,
    success: null,
  }))
  const { context } = learner.capabilities
  const { examples } = examplesOf(demonstrations, renderer, { context })
  if (examples.length === 0) return
  await imitate({
    learner,
    algorithm: recipe('sft', { groups: 32, adam: { learningRate: 3e-3 } }),
    examples,
    steps: warmSteps,
    seed,
  })
}

/** The rollouts of the last half of a training that earned most, each as it was played. */
async function bestOf(dir: string, shadow: string | undefined): Promise<Played[]> {
  const { states } = await foldRun(dir)
  const scored = states
    .slice(Math.floor(states.length / 2))
    .flatMap(({ order, status, chosen }) =>
      status === 'scored' && chosen !== undefined ? [{ order, attempt: chosen }] : [],
    )
    .sort((a, b) => (b.attempt.verdict?.reward ?? 0) - (a.attempt.verdict?.reward ?? 0))
  const best = new Map<string, Played>()
  for (const { order, attempt } of scored.slice(0, 10 * bestKept)) {
    if (best.size === bestKept) break
    const trajectory = await readTrajectory(dir, attempt)
    const { verdict } = attempt
    const played = playedOf(
      { order: order.id, task: order.task, fault: undefined, verdict, trajectory },
      shadow,
    )
    const said = JSON.stringify(played.acts)
    if (!best.has(said)) best.set(said, played)
  }
  return [...best.values()]
}
