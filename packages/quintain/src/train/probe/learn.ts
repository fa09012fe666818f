import { join } from 'node:path'
import { foldRun, QuintainError, readTrajectory } from '../../core/index.ts'
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
import { piecesOf } from './pieces.ts'
import { type Played, playedOf } from './played.ts'
import { promise, type Standing } from './standing.ts'

/** What a policy learned from the rewards alone. */
export interface Learned {
  steps: StepRecord[]
  /** Why it ended, in the words of the training. */
  end: string
  /** Its best rollouts: those that failed first, by reward; those that say the same counted once. */
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
  seconds: number
  threads: number | undefined
  shadow: string | undefined
  /** A policy to go on from, in place of a blind one. Who opened it closes it. */
  policy: { learner: Learner; renderer: Renderer } | undefined
  signal: AbortSignal | undefined
  onStep: ((step: StepRecord) => void) | undefined
}

/** Of the blind policy. */
const shape = { layers: 2, width: 64, heads: 4, feedForward: 256, context: 512 }
/** Pieces of one reply. */
const longestReply = 64
/** Scripts that paid best, which the blind policy is shown as often as all else together. */
const mostBest = 10
const warmSteps = 80
/** Pieces of one conversation that is shown: longer ones cost much, and teach little. */
const mostLearned = 96
/** Of the best rollouts, of those that succeeded and of the others. */
const bestKept = 12

/**
 * Trains a policy that sees nothing of a task: it knows when it is its turn, and what it said before. What it learns to earn
 * is earned by anybody. It begins from what the scripts said and from mixtures of it, half of all what was paid, and goes on
 * by group-relative policy gradient.
 */
export async function learn(standings: readonly Standing[], options: LearnOptions): Promise<Learned> {
  const given = options.policy
  const spoken = standings.filter(({ tries: [first] }) => first !== undefined && first.acts.length > 0)
  const { learner, renderer } = given ?? (await blindPolicy(spoken, options))
  const dir = join(options.dir, 'training')
  try {
    if (given === undefined) await warmStart(spoken, { learner, renderer, seed: options.seed })
    const { says, error } = await train({
      ...options.training,
      dir,
      learner,
      renderer,
      seed: options.seed,
      steps: options.steps,
      algorithm: recipe('grpo', {
        groups: 4,
        groupSize: 32,
        minibatches: 2,
        normalise: 'token',
        // A step in which nothing differs is no reason to end: what is paid may be found in the next one.
        filterZeroVariance: false,
        adam: { learningRate: 3e-3, decayTo: 0.3, gradClipNorm: 0.5 },
      }),
      splits: { train: options.split, validation: false, test: false },
      evaluate: false,
      checkpointEvery: options.steps,
      keep: 'best_and_last',
      sampling: { temperature: 1, ...(given === undefined ? { maxTokens: longestReply } : {}) },
      budget: { seconds: options.seconds },
      ...(options.shadow === undefined ? {} : { shadow: options.shadow }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
    })
    options.signal?.throwIfAborted()
    // Nothing of the probe can be written any more either.
    if (QuintainError.isInstance(error) && error.code === 'disk_full') throw error
    const { lines } = await readTraining(dir)
    const steps = lines.filter((line) => line.kind === 'step')
    return { steps, end: says, best: await bestOf(dir, options.shadow) }
  } finally {
    if (given === undefined) await learner.close()
  }
}

async function blindPolicy(
  spoken: readonly Standing[],
  { seed, threads }: LearnOptions,
): Promise<{ learner: Learner; renderer: Renderer }> {
  const vocabulary = piecesOf(spoken.flatMap(({ tries: [first] }) => first ?? []))
  const renderer = chatRenderer({ vocabulary, omit: ['system', 'observations'] })
  const learner = await createEmbedded({
    shape: { ...shape, vocabulary: renderer.vocabulary },
    seed,
    ...(threads === undefined ? {} : { threads }),
  })
  return { learner, renderer }
}

async function warmStart(
  spoken: readonly Standing[],
  { learner, renderer, seed }: { learner: Learner; renderer: Renderer; seed: string },
): Promise<void> {
  const best = spoken
    .filter(({ pay }) => pay > 0)
    .sort((a, b) => promise(b) - promise(a))
    .slice(0, mostBest)
  // An echo is of one task: it is left out, unless it was paid.
  const others = spoken.filter(({ script }) => script.family !== 'echo')
  const times = best.length === 0 ? 0 : Math.ceil(others.length / best.length)
  const shown = [...others, ...Array.from({ length: times }, () => best).flat()]
  const demonstrations = shown.map(({ tries: [first] }) => {
    const { messages, order } = first!
    return {
      messages: [...messages],
      trained: messages.map(({ role }) => role === 'assistant'),
      from: order,
      task: null,
      reward: null,
      success: null,
    }
  })
  const { context } = learner.capabilities
  const { examples } = examplesOf(demonstrations, renderer, { context })
  const sayable = examples.filter(({ tokens }) => tokens <= mostLearned)
  if (sayable.length === 0) return
  await imitate({
    learner,
    algorithm: recipe('sft', { groups: 32, adam: { learningRate: 3e-3 } }),
    examples: sayable,
    steps: warmSteps,
    seed,
  })
}

/**
 * The rollouts of a training that earned most: those that are no success first, then the others, each way of playing once.
 * Whatever was once paid is tried again, whether or not the policy came to do it often.
 */
async function bestOf(dir: string, shadow: string | undefined): Promise<Played[]> {
  const { states } = await foldRun(dir)
  const rewards = states.flatMap(({ chosen }) => chosen?.verdict?.reward ?? [])
  const least = rewards.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const paid = states
    .flatMap(({ order, status, chosen }) =>
      status === 'scored' && chosen !== undefined ? [{ order, attempt: chosen }] : [],
    )
    .filter(({ attempt }) => (attempt.verdict?.reward ?? least) > least)
    .sort((a, b) => b.attempt.verdict!.reward! - a.attempt.verdict!.reward!)
  const best: Played[] = []
  for (const isSuccess of [false, true]) {
    const found = new Map<string, Played>()
    const own = paid.filter(({ attempt }) => (attempt.verdict?.success === true) === isSuccess)
    for (const { order, attempt } of own.slice(0, 10 * bestKept)) {
      if (found.size === bestKept) break
      const trajectory = await readTrajectory(dir, attempt)
      const { verdict } = attempt
      const played = playedOf(
        { order: order.id, task: order.task, fault: undefined, verdict, trajectory },
        shadow,
      )
      const said = JSON.stringify(played.acts)
      if (!found.has(said)) found.set(said, played)
    }
    best.push(...found.values())
  }
  return best
}
