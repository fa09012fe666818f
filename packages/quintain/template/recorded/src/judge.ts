import { type Message, textOf } from 'quintain'
import { callsMatchUnordered, communicated } from 'quintain/scoring'
import type { Decision } from './decisions.ts'
import type { Call, State } from './recorded-world.ts'

/** Why there is no score: nobody has decided, there is nothing to look for, or the recordings did not reach that far. */
export function whyUnscored(done: Decision | null, { notRecorded }: State): string | undefined {
  if (done === null) return 'to_decide'
  // What asks for nothing is passed by doing nothing, so it measures nothing.
  if (done.told.length === 0 && done.changed.length === 0) return 'nothing_to_check'
  // The agent was told that a call failed which would not have failed: that is not its failure.
  return notRecorded > 0 ? 'call_not_recorded' : undefined
}

/** Exactly the wanted calls, in any order: none missing, and nothing else changed. */
export function changedAsWanted(done: Decision, made: readonly Call[]): boolean {
  const wanted = done.changed.map(({ tool, arguments: given }) => ({
    name: tool,
    arguments: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value]])),
  }))
  return callsMatchUnordered(wanted, made)
}

/** Every wanted fact stands somewhere in what the agent said: numbers as numbers, days as days, words in their order. */
export function toldAsWanted(done: Decision, messages: readonly Message[]): boolean {
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? [textOf(content)] : []))
  return done.told.every((fact) => communicated(fact, said))
}
