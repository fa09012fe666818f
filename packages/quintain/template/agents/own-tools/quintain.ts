// How Quintain plays the agent: as a program that gets its task on standard input. Where the world is, it finds in the
// variables that `endpoints()` of the world gives.
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

export default command({
  argv: ['node', fileURLToPath(new URL('agent.ts', import.meta.url))],
  env: { STREAM: process.env.STREAM ?? '' },
  name: '__EXAMPLE__',
})
