import { z } from 'zod'
import { environment, tool } from '../../packages/quintain/src/index.ts'

/** An environment whose tools take their time, and whose reward is the count of the calls. */
export const slow = environment({
  system: 'Call what there is.',
  tasks: [{ id: 'one', split: 'train', prompt: 'Go.', secret: { gold: 'THE-GOLD' } }],
  needs: ['tools'],
  limits: { turns: 20 },
  world: () => {
    const calls: string[] = []
    return {
      tools: () => [
        tool({
          name: 'echo',
          description: 'Says it again.',
          input: z.object({ text: z.string() }),
          run: ({ text }) => {
            calls.push('echo')
            return text
          },
        }),
        tool({
          name: 'slow',
          description: 'Takes so many milliseconds.',
          input: z.object({ ms: z.number() }),
          run: async ({ ms }) => {
            calls.push('slow')
            await new Promise((resolve) => setTimeout(resolve, ms))
            return `took ${ms}`
          },
        }),
      ],
      finish: () => ({ calls }),
    }
  },
  rewards: { calls: ({ state }) => state.calls.length },
})
