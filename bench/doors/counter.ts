import { environment, tool } from 'quintain'
import { z } from 'zod'
import { callsToGo } from './kinds.ts'

const input = z.object({ by: z.number().int() })

/** As small an environment of tools as there is: what is measured is what lies round it. */
export default environment({
  system: 'You count.',
  tasks: Array.from({ length: 64 }, (_, place) => ({
    id: `count-${place}`,
    split: 'train',
    prompt: `Call the tool ${callsToGo} times.`,
    data: {},
    secret: {},
  })),
  needs: ['tools'],
  world: () => {
    let count = 0
    const add = tool({
      name: 'add',
      description: 'Adds to the counter.',
      input,
      run({ by }) {
        count += by
        const content = `The counter is at ${count}.`
        return count < callsToGo ? { content } : { content, done: 'reached' }
      },
    })
    return { tools: () => [add], finish: () => ({ count }) }
  },
  rewards: { reached: ({ state }) => Number(state.count >= callsToGo) },
  success: ({ rewards }) => rewards.reached === 1,
  *oracle() {
    for (let call = 0; call < callsToGo; call++) yield { tool: 'add', arguments: { by: 1 } }
  },
})
