import { z } from 'zod'
import type { Message } from '../../packages/quintain/src/core/index.ts'
import { environment, evaluate, type Model, tool } from '../../packages/quintain/src/index.ts'

/** A gold answer that only the secret holds. */
export const gold = 'GOLD-CANARY-9931'

/** Sums by a tool; graders know more than the agent. Every fourth attempt is one that nobody can score. */
const sums = environment({
  system: 'Add with the tool.\u2028',
  tasks: [1, 2, 3].map((n) => ({
    id: `sum-${n}`,
    prompt: `${n} + ${n} = ? ☃`,
    secret: { sum: 2 * n, gold },
  })),
  needs: ['tools'],
  limits: { turns: 4 },
  world: () => ({
    tools: () => [
      tool({
        name: 'add',
        description: 'Adds two numbers.',
        input: z.object({ a: z.number(), b: z.number() }),
        run: ({ a, b }) => String(a + b),
      }),
    ],
    finish: () => ({}),
  }),
  rewards: { right: ({ task, transcript }) => Number(transcript.answer === String(task.secret.sum)) },
  success: ({ rewards }) => rewards.right === 1,
})

const marks = { system: 1, user: 2, assistant: 3, tool: 4 }

/** A character is a token, and a template never changes what stands before. */
function idsOf({ role, ...rest }: Message): number[] {
  const text = JSON.stringify({ ...rest, role: undefined })
  return [marks[role], ...Array.from(text, (character) => character.codePointAt(0)!), 5]
}

/** Adds with the tool, then answers, right in every other attempt; as a server that gives ids would tell it. */
function adder(): Model {
  let attempts = 0
  return {
    id: 'adder-1',
    generate: async ({ messages }) => {
      const asked = messages.find(({ role }) => role === 'user')!
      const n = Number(/\d+/.exec(String(asked.content))![0])
      const result = messages.findLast(({ role }) => role === 'tool')
      const message: Extract<Message, { role: 'assistant' }> =
        result === undefined
          ? {
              role: 'assistant',
              content: '',
              reasoning: 'I add.',
              toolCalls: [{ id: `call-${attempts}`, name: 'add', arguments: `{"a": ${n}, "b": ${n}}` }],
            }
          : { role: 'assistant', content: attempts++ % 2 === 0 ? String(result.content) : 'no idea' }
      const outputIds = Int32Array.from(idsOf(message).slice(1))
      return {
        message,
        finish: result === undefined ? 'tool_calls' : 'stop',
        costUsd: 0,
        tokens: {
          promptIds: Int32Array.from([...messages.flatMap(idsOf), marks.assistant]),
          outputIds,
          logprobs: Float32Array.from(outputIds, (_, at) => -0.1 - at / 7),
        },
      }
    },
  }
}

/** Records a run with tokens, tools and rewards of both kinds in a folder. */
export async function exampleRun(dir: string): Promise<void> {
  await evaluate(sums, { model: adder(), repeats: 4, dir })
}
