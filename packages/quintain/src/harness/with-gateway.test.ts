import { afterEach, describe, expect, test } from 'vitest'
import type { HarnessContext } from '../core/index.ts'
import { HeldModel, seatOf } from '../gateway/__fixtures__/held-model.ts'
import type { Gateway } from '../gateway/index.ts'
import { openGateway } from '../gateway/open-gateway.ts'
import { fakeContext } from './__fixtures__/fake-context.ts'
import { agent } from './agent.ts'
import { command } from './command/command.ts'
import { rolloutBaseURL } from './model-fetch.ts'
import { rolloutFetch } from './rollout.ts'

const gateways: Gateway[] = []
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close()
})

async function open(): Promise<Gateway> {
  const gateway = await openGateway({ log: (text) => expect.fail(text) })
  gateways.push(gateway)
  return gateway
}

/** A context whose model is a seat's, with a lease of a real gateway. */
function contextAt(gateway: Gateway, options: { limits?: { turns: number }; reply?: string } = {}) {
  const model = new HeldModel((call) => call.answer(options.reply ?? 'hi'))
  const { seat, recorder, over } = seatOf(model, { limits: options.limits ?? {} })
  const lease = gateway.open({ seat, signal: over.signal })
  const handle: HarnessContext['model'] = {
    id: seat.id,
    generate: (request, own) => seat.generate(request, own),
    record: (messages) => seat.record(messages),
    address: async () => lease,
    get turns() {
      return seat.turns
    },
  }
  const { context } = fakeContext({ signal: over.signal })
  return { context: { ...context, model: handle }, recorder, seat, over }
}

const asks = `
  const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL } = process.env
  const ask = async (content) => {
    const reply = await fetch(OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: OPENAI_MODEL, messages: [{ role: 'user', content }] }),
    })
    const body = await reply.json()
    if (!reply.ok) throw new Error(reply.status + ' ' + body.error.code)
    return body.choices[0].message.content
  }`

describe('with a gateway', () => {
  test('a program’s calls are recorded, and it is recorded by nothing else', async () => {
    const { context, recorder, seat } = contextAt(await open())
    const program = command([
      process.execPath,
      '--input-type=module',
      '-e',
      `${asks}; console.log(await ask('go'))`,
    ])
    expect(await program.run(context)).toEqual({ outcome: 'completed', answer: 'hi' })
    expect(seat.turns).toBe(1)
    expect(recorder.nodes.map(({ message, sampled }) => [message.role, message.content, sampled])).toEqual([
      ['user', 'go', false],
      ['assistant', 'hi', true],
    ])
  })

  test('a program that has used up its turns is refused, whatever it makes of that', async () => {
    const { context, seat } = contextAt(await open(), { limits: { turns: 2 } })
    const script = `${asks}; for (;;) await ask('again')`
    const running = command([process.execPath, '--input-type=module', '-e', script]).run(context)
    await expect(running).rejects.toThrow('403 turn_limit')
    expect(seat.turns).toBe(2)
    expect(seat.stopped?.outcome).toBe('turn_limit')
  })

  test('functions that share a client are recorded apart', async () => {
    const gateway = await open()
    const ask = async (content: string): Promise<string> => {
      const reply = await rolloutFetch(`${rolloutBaseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer none', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content }] }),
      })
      const body = (await reply.json()) as { choices: { message: { content: string } }[] }
      return body.choices[0]!.message.content
    }
    const seats = Array.from({ length: 20 }, (_, at) => contextAt(gateway, { reply: `reply ${at}` }))
    const ends = await Promise.all(
      seats.map(({ context }, at) =>
        agent(async () => `${await ask(`ask ${at}`)}, ${await ask('more')}`).run(context),
      ),
    )
    expect(ends.map(({ answer }) => answer)).toEqual(seats.map((_, at) => `reply ${at}, reply ${at}`))
    for (const [at, { recorder, seat }] of seats.entries()) {
      expect(seat.turns).toBe(2)
      expect(recorder.nodes.map(({ message }) => message.content)).toEqual([
        `ask ${at}`,
        `reply ${at}`,
        'more',
        `reply ${at}`,
      ])
    }
  })

  test('what an SDK in this process asks and what goes through the gateway is one history', async () => {
    const { context, recorder } = contextAt(await open())
    await agent(async ({ model }) => {
      const user = { role: 'user' as const, content: [{ type: 'text', text: 'go' }] }
      await model.doGenerate({ prompt: [user] })
      await model.fetch(`${model.baseURL}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'any',
          messages: [
            { role: 'user', content: 'go' },
            { role: 'assistant', content: 'hi' },
            { role: 'user', content: 'on' },
          ],
        }),
      })
      return 'x'
    }).run(context)
    expect(recorder.nodes.map(({ parent }) => parent)).toEqual([-1, 0, 1, 2])
  })
})
