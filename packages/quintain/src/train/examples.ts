import { QuintainError, textOf } from '../core/index.ts'
import type { TokenRow } from '../rows/index.ts'
import type { TrainedMessages } from './chat-line.ts'
import type { Demonstration } from './demonstrations.ts'
import type { Datum, Sampler } from './engine.ts'
import type { Preference } from './preferences.ts'
import type { Algorithm } from './records.ts'
import type { Renderer } from './renderer.ts'
import { alignedIds } from './row-datum.ts'

/**
 * What is learned at once from data that is not graded rollouts: a conversation (one datum with `weights` 1 on what is
 * trained), or a preference (two, with `advantages` 1 on the better and -1 on the worse).
 */
export interface Example {
  from: string
  /** Whose conversation it is, where that is known: what is held out of learning is whole tasks. */
  task: string | null
  data: Datum[]
  /** Tokens that are trained on. */
  tokens: number
}

/**
 * Why a conversation is not learned from. `below`: its reward is less than was asked for. `no_reward`: nobody scored it.
 * `failed`: it is no success, where those were asked for. `too_long`: more tokens than the context. `empty`: a message that
 * would be learned says nothing and calls nothing. `same`: both of a pair are the same tokens.
 */
export type NoExample = 'below' | 'no_reward' | 'failed' | 'too_long' | 'empty' | 'same'

export interface Examples {
  examples: Example[]
  /** How many conversations or pairs were left out, by why. */
  left: Partial<Record<NoExample, number>>
  /** Tokens of the longest that was left out for its length: the least context that holds all. */
  longest?: number
}

export interface ExampleOptions {
  /** Most tokens of a sequence, inputs counted: the engine's context. */
  context: number
}

/**
 * Demonstrations as tokens. With `minReward` or `success` only those that are worth it, which is the imitation of winners
 * (rejection sampling): it favours tasks that are easy for whoever demonstrates.
 *
 * Throws `prompt_invalid`, naming the demonstration, for text that the renderer's vocabulary does not cover.
 */
export function examplesOf(
  demonstrations: readonly Demonstration[],
  renderer: Renderer,
  { context, minReward, success }: ExampleOptions & { minReward?: number; success?: boolean },
): Examples {
  const found: Examples = { examples: [], left: {} }
  for (const demonstration of demonstrations) {
    const { from, task, reward } = demonstration
    if (success === true && demonstration.success !== true)
      leave(found, demonstration.success === null ? 'no_reward' : 'failed')
    else if (minReward !== undefined && reward === null) leave(found, 'no_reward')
    else if (minReward !== undefined && reward! < minReward) leave(found, 'below')
    else if (hasEmpty(demonstration)) leave(found, 'empty')
    else {
      const { ids, mask } = rendered(demonstration, from, renderer)
      const datum = { ...alignedIds(ids), weights: Float32Array.from(mask.subarray(1)) }
      add(found, context, { from, task, data: [datum] })
    }
  }
  return found
}

/** Examples of what a policy sampled itself, token by token, for imitation of its own better rollouts. */
export function examplesOfRows(rows: readonly TokenRow[], { context }: ExampleOptions): Examples {
  const found: Examples = { examples: [], left: {} }
  for (const { ids, mask, attempt, task, row } of rows) {
    const datum = { ...alignedIds(ids), weights: Float32Array.from(mask.subarray(1)) }
    add(found, context, { from: `${attempt} row ${row}`, task, data: [datum] })
  }
  return found
}

/** Preferences as tokens, for the loss `dpo`. Throws `prompt_invalid` as `examplesOf` does. */
export function examplesOfPreferences(
  preferences: readonly Preference[],
  renderer: Renderer,
  { context }: ExampleOptions,
): Examples {
  const found: Examples = { examples: [], left: {} }
  for (const { from, task, chosen, rejected } of preferences) {
    // A worse answer may well be none.
    if (hasEmpty(chosen)) {
      leave(found, 'empty')
      continue
    }
    const [better, worse] = [chosen, rejected].map((side) => rendered(side, from, renderer))
    if (better!.ids.join() === worse!.ids.join()) {
      leave(found, 'same')
      continue
    }
    const sides = [better!, worse!].map(({ ids, mask }, at): Datum => {
      const sign = at === 0 ? 1 : -1
      return { ...alignedIds(ids), advantages: Float32Array.from(mask.subarray(1), (one) => sign * one) }
    })
    add(found, context, { from, task, data: sides })
  }
  return found
}

/** The same examples with the log-probabilities of a reference, which `dpo` compares with: as a rule the policy before it. */
export async function withReference(
  examples: readonly Example[],
  reference: Pick<Sampler, 'score'>,
): Promise<Example[]> {
  const scores = await reference.score(examples.flatMap(({ data }) => data))
  let at = 0
  return examples.map((example) => ({
    ...example,
    data: example.data.map((datum) => ({ ...datum, reference: scores[at++]! })),
  }))
}

/**
 * The datums of one step, scaled by how the algorithm normalises: by all trained tokens (`token`), by those of each datum
 * and the examples (`sequence`), or by `constantLength` and the examples (`constant`). A preference is a unit of its own and
 * is divided by the number of pairs, whatever is said: its log-ratios are of whole sequences.
 *
 * Throws `datum_invalid` for no examples.
 */
export function imitationBatch(examples: readonly Example[], algorithm: Algorithm): Datum[] {
  if (examples.length === 0) throw new QuintainError('datum_invalid', 'There is no example to learn from.')
  const all = examples.reduce((sum, { tokens }) => sum + tokens, 0)
  return examples.flatMap(({ data, tokens }, unit) => {
    const length = {
      token: all / examples.length,
      sequence: tokens,
      constant: algorithm.constantLength ?? Number.NaN,
    }[algorithm.normalise]
    return data.map((datum) => ({
      ...datum,
      ...(datum.weights && { weights: datum.weights.map((one) => one / (length * examples.length)) }),
      ...(datum.advantages && { advantages: datum.advantages.map((one) => one / examples.length) }),
      unit,
    }))
  })
}

function rendered({ messages, trained, tools }: TrainedMessages, from: string, renderer: Renderer) {
  try {
    return renderer.renderExample(messages, trained, tools)
  } catch (thrown) {
    if (!QuintainError.isInstance(thrown)) throw thrown
    throw new QuintainError(thrown.code, `${from}: ${thrown.message}`, {
      cause: thrown,
      facts: { ...thrown.facts, from },
    })
  }
}

/** True where a message that would be learned has neither text nor calls: a policy would learn to say nothing. */
function hasEmpty({ messages, trained }: TrainedMessages): boolean {
  return messages.some(
    (message, at) =>
      trained[at] === true &&
      message.role === 'assistant' &&
      (message.toolCalls ?? []).length === 0 &&
      textOf(message.content) === '',
  )
}

function add(to: Examples, context: number, example: Omit<Example, 'tokens'>): void {
  const longest = Math.max(...example.data.map(({ input }) => input.length))
  if (longest > context) {
    leave(to, 'too_long')
    to.longest = Math.max(to.longest ?? 0, longest)
    return
  }
  const tokens = example.data.reduce(
    (sum, { weights, advantages }) =>
      sum + (weights ?? advantages)!.reduce((all, one) => all + Math.abs(one), 0),
    0,
  )
  to.examples.push({ ...example, tokens })
}

function leave(to: Examples, why: NoExample): void {
  to.left[why] = (to.left[why] ?? 0) + 1
}
