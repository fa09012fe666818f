import { z } from 'zod'
import { environment, FaultError, tool, unscored } from '../../packages/quintain/src/index.ts'

/** Longer than what clients before `hud` 0.6.16 could read, and full of what frames must not be cut at. */
export const longPrompt = `Read this:\n${'line of "text"\u2028 \u00e9\r\n'.repeat(6_000)}`

/** An environment of all that goes wrong on this wire: prompts that are long, episodes without a number, odd rewards. */
export const faulty = environment({
  tasks: ['fine', 'long', 'unscored', 'broken', 'lost', 'odd'].map((id) => ({
    id,
    split: 'train',
    prompt: id === 'long' ? longPrompt : `Do "${id}".`,
    data: {},
    secret: { gold: 'THE-GOLD-ANSWER' },
  })),
  needs: ['tools'],
  limits: { turns: 8 },
  world: (task) => {
    if (task.id === 'lost') throw new Error('no world')
    return {
      tools: () => [
        tool({
          name: 'look',
          description: 'Looks.',
          input: z.object({ at: z.string().optional() }),
          run: ({ at }) => {
            if (task.id === 'broken')
              throw new FaultError({ owner: 'world', code: 'gone', message: 'it is gone', retryable: false })
            return `nothing at ${at ?? 'all'}`
          },
        }),
      ],
      finish: () => ({}),
    }
  },
  rewards: {
    right: ({ task, transcript }) =>
      task.id === 'unscored' ? unscored('no_verdict') : Number(transcript.answer === 'done'),
    bonus: ({ task }) => (task.id === 'odd' ? 4 : 0),
  },
})
