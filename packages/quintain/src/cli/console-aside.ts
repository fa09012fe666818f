import { Console } from 'node:console'
import type { CliIo } from './io.ts'

const told = ['log', 'info', 'debug', 'dir', 'table', 'group', 'timeEnd', 'timeLog', 'count'] as const

/**
 * Has what agents and models in this process print with `console` go to stderr, so that stdout holds the JSON of a command
 * alone. Gives back what ends that; in a process that is not ours it does nothing.
 */
export function consoleAside(io: CliIo): () => void {
  if (io.ownsProcess !== true) return () => {}
  const before = { ...console }
  Object.assign(console, picked(new Console(process.stderr, process.stderr)))
  return () => void Object.assign(console, picked(before))
}

function picked(from: Pick<Console, (typeof told)[number]>): Partial<Console> {
  return Object.fromEntries(told.map((name) => [name, from[name]]))
}
