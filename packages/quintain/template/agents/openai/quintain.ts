// How Quintain plays the agent: as a program that is started for each message of the customer, in a folder that it has for
// the whole conversation.
import { fileURLToPath } from 'node:url'
import { command } from 'quintain/harness'

export default command({
  argv: ['node', fileURLToPath(new URL('agent.ts', import.meta.url)), '{task-file}'],
  task: 'args',
  env: { STREAM: process.env.STREAM ?? '' },
  name: '__EXAMPLE__',
})
