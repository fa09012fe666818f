import { expect, test } from 'vitest'
import { type HarnessContext, type HarnessResult, type Message, ModelFault, textOf } from '../core/index.ts'
import { readRecordings } from '../models/index.ts'
import { outside, packaged, till } from './__fixtures__/outside.ts'
import { modelThat, recorded, say } from './__fixtures__/recorded.ts'

/** An agent that has a title made beside its work, asks once for what its model refuses, and shortens its history. */
async function busy(context: HarnessContext): Promise<HarnessResult> {
  const { model, tools, reply } = context
  const ask = async (messages: Message[]) => (await model.generate({ messages, tools: tools.specs })).message
  const title = ask([{ role: 'user', content: 'A title, please.' }])
  const history: Message[] = [...context.messages]
  await ask([{ role: 'user', content: 'Something bad.' }]).catch(() => {})
  const paid = await ask(history)
  history.push(paid, ...(await tools.run(paid.toolCalls ?? [], { truncated: false })).messages)
  const short: Message[] = [{ role: 'user', content: `So far: ${textOf(history.at(-1)?.content)}` }]
  const number = await ask(short)
  if (textOf((await title).content) !== 'Paying back') throw new Error('no title')
  const turn = await reply!(textOf(number.content))
  return { outcome: 'env_done', ...(turn.done === undefined ? {} : { stop: turn.done }) }
}

/** What the model behind it says, to whatever comes first. */
const model = modelThat(({ messages }) => {
  const asked = textOf(messages.at(-1)?.content)
  if (asked === 'A title, please.') return 'Paying back'
  if (asked === 'Something bad.')
    throw new ModelFault(
      { owner: 'provider', stage: 'model', code: 'refused', message: 'no', retryable: false },
      { outcome: 'refused' },
    )
  if (asked.startsWith('So far')) return 'canary-gold-A'
  return {
    message: { ...say('Let me see.'), toolCalls: [{ id: 'c1', name: 'pay', arguments: '{"order":"A"}' }] },
    finish: 'tool_calls',
  }
})

test.each(['worker', 'inline'] as const)(
  'a rollout of an agent outside is said again, in a %s',
  async (isolation) => {
    const options = { isolation, workers: 1, tasks: ['A'], openRecordings: readRecordings }
    const env = await packaged(till())
    const agent = outside(busy)
    const first = await recorded(env, { agent, behind: { model } }, options)
    expect(first.only).toMatchObject({ outcome: 'env_done', stop: 'said', verdict: { success: true } })
    const policy = `recorded:${first.dir}`

    // Behind the same agent each call is answered as it was.
    const again = await recorded(env, { agent, behind: { policy } }, options)
    expect(again.only).toMatchObject({
      outcome: 'env_done',
      stop: 'said',
      verdict: { success: true },
      fault: null,
    })
    const answers = async (run: typeof first) => {
      const { calls, nodes } = await run.trajectory()
      return calls
        .flatMap(({ output }) => (output < 0 ? [] : [nodes[output]?.message]))
        .map((one) => JSON.stringify(one))
    }
    expect((await answers(again)).slice(0, 4).sort()).toEqual((await answers(first)).sort())

    // Without it what it said in the world is said, and nothing of what it asked beside.
    const alone = await recorded(env, { policy }, options)
    expect(alone.only).toMatchObject({
      outcome: 'env_done',
      stop: 'said',
      verdict: { success: true },
      fault: null,
    })
    const { nodes } = await alone.trajectory()
    expect(nodes.filter(({ sampled }) => sampled).map(({ message }) => textOf(message.content))).toEqual([
      '',
      'canary-gold-A',
    ])
  },
)
