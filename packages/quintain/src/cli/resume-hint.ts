import { hideKeys } from '../engine/index.ts'
import { printableLine } from '../report/index.ts'
import type { NamedAgent } from './agents.ts'
import type { GivenPrice } from './parse.ts'

/** What was typed that is not in the records of a run. */
export interface TypedAgain {
  agents?: NamedAgent[]
  price?: GivenPrice[]
}

/** The command that goes on with a run, with what must be typed again: agents, whose code is not recorded, and prices. */
export function resumeCommandText(dir: string, { agents = [], price = [] }: TypedAgain): string {
  const words = ['npx', 'quintain', 'resume', dir]
  for (const agent of agents) {
    if ('file' in agent) words.push('--agent', agent.file)
    else if ('url' in agent) words.push('--agent-url', agent.url)
    else words.push('--agent-command', agent.command)
  }
  for (const { model, price: given } of price) {
    const parts = [`in=${given.input}`, `out=${given.output}`]
    if (given.cacheRead !== undefined) parts.push(`cached=${given.cacheRead}`)
    words.push('--price', `${model === undefined ? '' : `${model}:`}${parts.join(',')}`)
  }
  return printableLine(hideKeys(words.map(quoted).join(' ')), 1_000)
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./#~-]+$/.test(word) && !word.startsWith('#')
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`
}
