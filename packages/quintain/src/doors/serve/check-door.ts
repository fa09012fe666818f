import { type Need, QuintainError } from '../../core/index.ts'
import type { ServedEnvironment } from '../session/session.ts'
import type { Door } from './door.ts'

/** Each need as people read it, and what becomes of it behind a door that does not carry it. */
const without: Readonly<Record<Need, { asks: string; loss: string }>> = {
  turns: {
    asks: 'an environment that answers what the agent says',
    loss: 'what the environment answers does not reach the agent',
  },
  tools: { asks: 'tools', loss: 'its tools are not offered' },
  seats: { asks: 'other seats than the agent', loss: 'other seats are left empty' },
  images: { asks: 'images', loss: 'images are left out, and a note stands in their place' },
  groupRewards: {
    asks: 'rewards that see all rollouts of a task',
    loss: 'group rewards are left out of the reward',
  },
  sandbox: { asks: 'boxes', loss: 'nothing runs in boxes' },
}

export interface CheckDoorOptions {
  /** Accept what cannot be carried, by its name. */
  lossy: boolean
  /** Doors that can be named instead. */
  others?: readonly Door[]
}

/**
 * Holds what an environment needs against what a door carries. Gives what is lost behind it, a sentence each: of what was
 * accepted with `lossy`, and of the door itself. Throws `needs_unmet` before anything listens.
 */
export function checkDoor(
  door: Door,
  environment: ServedEnvironment,
  { lossy, others = [] }: CheckDoorOptions,
): string[] {
  const unmet = unmetNeeds(door, environment)
  if (unmet.length > 0 && !lossy) {
    const instead = others.filter(
      (other) => other.name !== door.name && unmetNeeds(other, environment).length === 0,
    )
    throw new QuintainError(
      'needs_unmet',
      `${environment.name} needs ${listed(unmet.map((need) => without[need].asks))}, which the ${door.title} door does not carry. ${
        instead.length === 0
          ? 'Serve it'
          : `Serve it by ${listed(
              instead.map(({ name }) => `--door ${name}`),
              'or',
            )}, or`
      } with --lossy, which means: ${unmet.map((need) => without[need].loss).join('; ')}.`,
      { facts: { door: door.name, environment: environment.name, needs: unmet } },
    )
  }
  return [
    ...unmet.map((need) => `${capitalised(without[need].loss)}.`),
    ...door.losses(environment).map(({ says }) => says),
  ]
}

/** What an environment needs and a door does not carry. */
export function unmetNeeds(door: Door, { needs }: ServedEnvironment): Need[] {
  return needs.filter((need) => !door.carries[need])
}

function listed(words: readonly string[], last = 'and'): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} ${last} ${words[words.length - 1]!}`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
