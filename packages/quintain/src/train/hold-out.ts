import { createRng, QuintainError } from '../core/index.ts'
import type { Example } from './examples.ts'

/** Examples to learn from, and those that are only looked at. */
export interface HeldApart {
  learned: Example[]
  held: Example[]
  /** Of what is held out: whole tasks, or distinct conversations where tasks are not known. */
  parts: number
}

/** Share that is held out of so many examples, where nothing is said. */
const usualShare = 0.05
const leastExamples = 40

/**
 * Holds a share of the examples out of learning, drawn by the seed. What is drawn are whole tasks, or whole conversations
 * where an example does not say its task: of a policy that played a task four times alike, three would tell of the fourth.
 * Where nothing is said a twentieth of the tasks is held out of 40 examples or more, which is nothing of less than ten tasks.
 *
 * Throws `usage` for a share of what cannot be parted.
 */
export function holdOut(
  examples: readonly Example[],
  { share, seed = '0' }: { share?: number; seed?: string } = {},
): HeldApart {
  const parts = [...Map.groupBy(examples, partOf).values()]
  const count =
    share === undefined
      ? examples.length < leastExamples
        ? 0
        : Math.round(usualShare * parts.length)
      : share === 0
        ? 0
        : Math.max(1, Math.min(parts.length - 1, Math.round(share * parts.length)))
  if (count > 0 && parts.length < 2)
    throw new QuintainError(
      'usage',
      `Nothing can be held out: all ${examples.length} examples are of one task, or the same. Give --held-out 0, or examples of more tasks.`,
      { facts: { examples: examples.length } },
    )
  const shuffled = createRng(`held-out:${seed}`).shuffle(parts)
  return { held: shuffled.slice(0, count).flat(), learned: shuffled.slice(count).flat(), parts: count }
}

/** How many of the examples differ in what is read or learned. */
export function distinctOf(examples: readonly Example[]): number {
  return new Set(examples.map(tokensOf)).size
}

function partOf(example: Example): string {
  return example.task === null ? `as ${tokensOf(example)}` : `of ${example.task}`
}

/** The tokens of an example, and which of them are learned. */
function tokensOf({ data }: Example): string {
  return data
    .map(
      ({ input, target, weights, advantages }) =>
        `${input};${target.at(-1)};${weights ?? ''};${advantages ?? ''}`,
    )
    .join('|')
}
