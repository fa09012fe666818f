import { type Message, textOf } from 'quintain'
import { callsMatchUnordered, communicated } from 'quintain/scoring'
import { type Decision, freeText } from './decisions.ts'
import type { Call, State } from './recorded-world.ts'

/** Why there is no score: nobody has decided, there is nothing to look for, or the recordings did not reach that far. */
export function whyUnscored(done: Decision | null, { notRecorded }: State): string | undefined {
  if (done === null) return 'to_decide'
  // What asks for nothing is passed by doing nothing, so it measures nothing.
  if (done.told.length === 0 && done.changed.length === 0) return 'nothing_to_check'
  // The agent was told that a call failed which would not have failed: that is not its failure.
  return notRecorded > 0 ? 'call_not_recorded' : undefined
}

/** Exactly the wanted calls, in any order: none missing, and nothing else changed. Free text is not compared. */
export function changedAsWanted(done: Decision, made: readonly Call[]): boolean {
  const wanted = done.changed.map(({ tool, arguments: given }) => ({
    name: tool,
    arguments: Object.fromEntries(compared(tool, given).map(([name, value]) => [name, [value]])),
  }))
  const calls = made.map((call) => ({
    name: call.name,
    arguments: Object.fromEntries(compared(call.name, call.arguments)),
  }))
  return callsMatchUnordered(wanted, calls)
}

/** The arguments of a call that say what it changes. */
function compared(tool: string, given: Readonly<Record<string, unknown>>): [string, unknown][] {
  const text = Object.hasOwn(freeText, tool) ? (freeText[tool] ?? []) : []
  return Object.entries(given).filter(([name]) => !text.includes(name))
}

/** Every wanted fact stands somewhere in what the agent said: numbers as numbers, days as days, words in their order. */
export function toldAsWanted(done: Decision, messages: readonly Message[]): boolean {
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? [textOf(content)] : []))
  return done.told.every((fact) => communicated(fact, said))
}
