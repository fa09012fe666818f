import { z } from 'zod'
import { environment, FaultError, tool, unscored } from '../../packages/quintain/src/index.ts'

/** White space that clients might take off, one kind after the other, at every place where a text could be cut. */
const spaces = [' ', '\t', '\n', '\r\n', '\u00a0', '\u2003', '\u2028', '\u3000', '\u0085', '  ']

/** 40,000 characters, nearly all of them white space. */
export const longText = Array.from({ length: 40_000 }, (_, at) =>
  at % 97 === 0 ? '\u00e9' : spaces[Math.floor(at / 13) % spaces.length]![0],
).join('')

/** An environment of all that goes wrong on this wire: long results, names that are none, episodes without a number. */
export const hostile = environment({
  system: 'Read what there is.',
  tasks: ['long', 'unscored', 'broken', 'names'].map((id) => ({
    id,
    split: 'train',
    prompt: `Do "${id}".`,
    data: { id: 'not the id', prompt: 'not the prompt', task_spec: 1, level: 3 },
    secret: { gold: 'THE-GOLD-ANSWER' },
  })),
  needs: ['tools'],
  limits: { turns: 8 },
  world: (task) => {
    const seen: unknown[] = []
    return {
      tools: () => [
        tool({
          name: 'read',
          description: 'Reads """all""" there is.',
          input: z.object({
            from: z.number().describe('Where it begins.'),
            'e-mail': z.string().optional(),
            note: z.string().optional(),
          }),
          run: (given) => {
            seen.push(given)
            if (task.id === 'broken')
              throw new FaultError({
                owner: 'world',
                code: 'lost',
                message: task.secret.gold,
                retryable: false,
              })
            return task.id === 'long' ? longText : JSON.stringify(given)
          },
        }),
        tool({
          name: 'reset',
          description: 'Is called as a method of clients is.',
          input: z.object({}),
          run: () => 'reset',
        }),
      ],
      finish: () => ({ seen }),
    }
  },
  rewards: {
    right: ({ task, transcript }) =>
      task.id === 'unscored' ? unscored('no_verdict') : Number(transcript.answer === 'done'),
  },
})
