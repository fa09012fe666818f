import type { Harness, HarnessContext, HarnessResult, Message } from '../../core/index.ts'
import { packageOf } from './package-of.ts'

/** A package with an environment in it, in a folder of its own. `body` sees `environment`, `tool`, `schema` and `pause`. */
export function packaged(body: string): Promise<string> {
  return packageOf(`const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
/** A schema that takes any object. */
const schema = {
  schema: { '~standard': { version: 1, vendor: 'fixture', validate: (value) => ({ value }) } },
  jsonSchema: { type: 'object' },
}
export default environment(${body})`)
}

/** A harness in the main process that does what `run` says. */
export function outside(
  run: (context: HarnessContext) => Promise<HarnessResult>,
  more: Partial<Harness> = {},
): Harness {
  return {
    name: 'program@1',
    carries: { turns: true, tools: true, images: true },
    runs: 'outside',
    run,
    ...more,
  }
}

/** What a program does that has a model: asks it, carries out its calls, answers, and goes on until somebody ends it. */
export async function talk(context: HarnessContext): Promise<HarnessResult> {
  const { model, tools, reply } = context
  const messages: Message[] = [...context.messages]
  for (;;) {
    const response = await model.generate({ messages, tools: tools.specs })
    const { message } = response
    messages.push(message)
    if (message.toolCalls !== undefined) {
      const result = await tools.run(message.toolCalls, { truncated: false })
      messages.push(...result.messages)
      if (result.done !== undefined) return { outcome: 'env_done', stop: result.done }
      continue
    }
    if (reply === undefined || response.ended === true)
      return { outcome: 'completed', answer: message.content }
    const turn = await reply(message.content)
    if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
    messages.push({ role: 'user', content: turn.content })
  }
}

/** A till that wants an order paid back and then the number said; the secret is the number. */
export const till = (more = '') => `{
  tasks: ['A', 'B', 'C'].map((id) => ({ id, prompt: 'Pay back ' + id, data: { shop: id }, secret: { number: 'canary-gold-' + id } })),
  needs: ['tools', 'turns'],
  system: 'You are a clerk.',
  world: (task) => {
    let paid = false
    return {
      open: () => 'The shop is open.',
      tools: () => [tool({ name: 'pay', description: 'Pays.', input: schema, run: (given) => { paid = true; return 'paid ' + JSON.stringify(given) } })],
      endpoints: () => ({ SHOP_URL: 'http://shop.invalid/' + task.id }),
      reply: (said) => said === task.secret.number ? { content: 'Right.', done: 'said', reward: 1 } : { content: 'Which number?', reward: 0 },
      finish: () => ({ paid }),
    }
  },
  rewards: { paid: ({ state, transcript }) => Number(state.paid && transcript.answer.startsWith('canary')) },
  metrics: {
    seen: ({ transcript }) => transcript.messages.length,
    calls: ({ transcript }) => transcript.toolCalls.length,
    steps: ({ transcript }) => transcript.turnRewards.length,
  },
  success: ({ rewards }) => rewards.paid === 1,
  *oracle({ task }) {
    yield { text: 'Let me see.', calls: [{ tool: 'pay', arguments: { order: task.id } }] }
    yield 'Paid.'
    yield task.secret.number
  },
  policies: { *speak() { yield 'hello'; yield 'again'; yield 'and again' } },
  ${more}
}`
