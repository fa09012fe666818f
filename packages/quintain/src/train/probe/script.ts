import type { ToolSpec } from '../../core/index.ts'

/** What a player does in a turn. */
export interface Act {
  text: string
  calls?: readonly { name: string; arguments: Readonly<Record<string, unknown>> }[]
}

/** What a player could look at. */
export interface Situation {
  system: string
  /** What the agent was told first. */
  prompt: string
  /** What it was told last. */
  told: string
  /** From 0. */
  turn: number
  tools: readonly ToolSpec[]
}

/** What a script tries. */
export const families = [
  'nothing',
  'echo',
  'guess',
  'many_guesses',
  'phrase',
  'form',
  'length',
  'tools',
  'mixed',
  'learned',
] as const
export type Family = (typeof families)[number]

/** A way of playing that knows nothing of the task: what it earns, it earns for something else than solving it. */
export interface Script {
  /** What is done, in a few words; unique. */
  name: string
  family: Family
  /** What it says in every turn of every task, where that is one text. */
  text?: string
  /** Undefined: nothing more is done. */
  next(situation: Situation): Act | undefined
}

/** Says one text in every turn. */
export function saying(family: Family, text: string, name = shown(text)): Script {
  return { name, family, text, next: () => ({ text }) }
}

/** Does what was done elsewhere, turn by turn; the last turn again where there are more. */
export function repeating(family: Family, name: string, acts: readonly Act[]): Script {
  const [only] = acts
  const isOneText =
    only !== undefined && acts.every(({ text, calls }) => text === only.text && (calls ?? []).length === 0)
  return {
    name,
    family,
    ...(isOneText ? { text: only.text } : {}),
    next: ({ turn }) => acts[Math.min(turn, acts.length - 1)],
  }
}

const mostShown = 60

/** A text as it is shown in a name. */
export function shown(text: string): string {
  const cut = text.length > mostShown ? `${text.slice(0, mostShown)}… (${text.length} characters)` : text
  return JSON.stringify(cut)
}
