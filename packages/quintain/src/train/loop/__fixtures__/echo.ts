import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, environment, type Message } from '../../../core/index.ts'
import { createTableLearner } from '../../__fixtures__/table-engine.ts'
import { chatRenderer } from '../../chat-renderer.ts'
import type { Learner } from '../../engine.ts'
import { recipe } from '../../recipes.ts'
import type { Algorithm } from '../../records.ts'
import type { Renderer } from '../../renderer.ts'
import type { TrainOptions } from '../train-options.ts'

/** Letters that the policy may say. */
const letters = ['a', 'b', 'c'] as const

const made: string[] = []
process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A path that is not there yet, in a folder that is removed with this process. */
export async function newFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'quintain-train-'))
  made.push(dir)
  return join(dir, 'training')
}

export interface EchoOptions {
  /** Tasks of each split. */
  train?: number
  validation?: number
  test?: number
  /** What a rollout is worth; the share of its two letters that are right when absent. */
  reward?: (said: readonly string[], wanted: string, task: string) => number | Promise<number>
  /** Further fields of the definition. */
  groupRank?: boolean
}

/**
 * Two turns, a letter each: the letter that is shown is to be said again. Learned by a table in a few dozen steps.
 */
export function echo({
  train = 9,
  validation = 6,
  test = 6,
  reward,
  groupRank = false,
}: EchoOptions = {}): Environment {
  const tasks = Object.entries({ train, validation, test }).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, at) => ({
      id: `${split}-${at}`,
      split,
      prompt: letters[at % letters.length]!,
      secret: { wanted: letters[at % letters.length]! },
    })),
  )
  const share = (said: readonly string[], wanted: string) =>
    said.filter((letter) => letter === wanted).length / 2
  return environment({
    tasks,
    limits: { turns: 2, tokens: 8 },
    world: ({ prompt }) => {
      const said: string[] = []
      return {
        reply: (message) => {
          said.push(textOf(message))
          return said.length === 2 ? { content: '.', done: 'both' } : { content: String(prompt) }
        },
        finish: () => ({ said }),
      }
    },
    rewards: {
      right: ({ state, task }) =>
        reward === undefined
          ? share(state.said, task.secret.wanted)
          : reward(state.said, task.secret.wanted, task.id),
    },
    metrics: { firstRight: ({ state, task }) => Number(state.said[0] === task.secret.wanted) },
    ...(groupRank ? { groupRewards: { rank: { weight: 1, reward: ranks } } } : {}),
    success: ({ rewards }) => rewards.right === 1,
  }) as Environment
}

/** Half a point for being above the median of the group. */
function ranks({
  members,
}: {
  members: readonly { id: string; rewards: Readonly<Record<string, number | null>> }[]
}) {
  const values = members.map(({ rewards }) => rewards['right'] ?? 0).sort((a, b) => a - b)
  const median = values[Math.floor(values.length / 2)]!
  return Object.fromEntries(
    members.map(({ id, rewards }) => [id, (rewards['right'] ?? 0) >= median ? 0.5 : 0]),
  )
}

function textOf(message: Message['content']): string {
  return typeof message === 'string'
    ? message
    : message.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

export const echoRenderer = (): Renderer => chatRenderer({ vocabulary: [...letters, '.'], omit: ['system'] })

export const echoLearner = (): Learner =>
  createTableLearner({ vocabulary: echoRenderer().vocabulary, context: 32, order: 3 })

export const echoAlgorithm = (changes: Parameters<typeof recipe>[1] = {}): Algorithm =>
  recipe('dr-grpo', {
    groups: 3,
    groupSize: 6,
    minibatches: 1,
    constantLength: 4,
    adam: { learningRate: 0.3, decayTo: 1 },
    ...changes,
  })

/** A training of a few seconds; what is given goes before. */
export async function echoTraining(options: Partial<TrainOptions> = {}): Promise<TrainOptions> {
  return {
    env: echo(),
    dir: await newFolder(),
    learner: echoLearner(),
    renderer: echoRenderer(),
    algorithm: echoAlgorithm(),
    steps: 10,
    seed: 1,
    sampling: { maxTokens: 2 },
    evaluate: false,
    ...options,
  }
}
