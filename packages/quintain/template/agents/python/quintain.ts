// How Quintain plays the agent: as a program, one for each conversation, which is told and answers a line of JSON a turn.
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default command({
  argv: [here('.venv/bin/python'), here('agent.py')],
  turns: 'lines',
  env: { STREAM: process.env.STREAM ?? '' },
  name: '__EXAMPLE__',
})
