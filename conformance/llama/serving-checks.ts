import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ModelFault } from '../../packages/quintain/src/core/index.ts'
import { openGateway } from '../../packages/quintain/src/gateway/open-gateway.ts'
import type { Check } from './check.ts'
import { ask, dialects, type Question, Refused } from './programs.ts'
import { atSeat, llamaModel } from './seat.ts'
import type { LlamaServer } from './server.ts'

interface Slot {
  is_processing: boolean
  next_token?: { n_decoded: number }[]
}

/** Tokens that the server has made of what it works on; undefined when it rests. */
async function underWay(server: LlamaServer): Promise<number | undefined> {
  const slots = (await server.ask('/slots')) as Slot[]
  const busy = slots.find((slot) => slot.is_processing)
  return busy && (busy.next_token?.[0]?.n_decoded ?? 0)
}

const story: Question = { said: [{ by: 'user', text: 'Tell a story.' }], maxTokens: 1_200 }

/** What a server does that a reply alone does not show. */
export const servingChecks: Check[] = [
  ...dialects.map(
    (program): Check => ({
      name: `a ${program} program that leaves its stream, and the server stops`,
      async carryOut({ server }) {
        const gateway = await openGateway({ graceMs: 50 })
        try {
          await atSeat(gateway, llamaModel(server), async (address, calls) => {
            const leaving = new AbortController()
            const fetchAndLeave: typeof fetch = async (url, init) => {
              const response = await fetch(url, { ...init, signal: leaving.signal })
              const reader = response.body!.getReader()
              for (let pieces = 0; pieces < 3; pieces++) await reader.read()
              leaving.abort()
              return response
            }
            await assert.rejects(
              ask(
                program,
                { ...address, fetch: fetchAndLeave },
                { ...story, stream: true, extra: endless(program) },
              ),
            )
            let made = 0
            for (let now = await underWay(server); now !== undefined; now = await underWay(server)) {
              made = Math.max(made, now)
              await sleep(20)
            }
            assert.ok(made < story.maxTokens / 2, `it went on for ${made} tokens`)
            while (calls.length === 0) await sleep(20)
            assert.deepEqual(calls[0]!.flags, ['client_left', 'usage_estimated'])
          })
        } finally {
          await gateway.close()
        }
      },
    }),
  ),
  ...dialects.map(
    (program): Check => ({
      name: `a ${program} program whose history does not fit`,
      carryOut: ({ server, gateway }) =>
        atSeat(gateway, llamaModel(server), async (address, _calls, seat) => {
          const refusal = ask(program, address, {
            said: [{ by: 'user', text: 'word '.repeat(2_000) }],
            maxTokens: 8,
          })
          await assert.rejects(refusal, (thrown) => thrown instanceof Refused && thrown.status === 400)
          assert.equal(seat.stopped?.outcome, 'context_overflow')
          // A shorter one is answered.
          await ask(program, address, { ...story, maxTokens: 2 })
          assert.equal(seat.stopped, undefined)
        }),
    }),
  ),
  ...dialects.map(
    (upstream): Check => ({
      name: `a history that does not fit, told in ${upstream}`,
      async carryOut({ server }) {
        const model = llamaModel(server, upstream)
        const messages = [{ role: 'user' as const, content: 'word '.repeat(2_000) }]
        const { signal } = new AbortController()
        const asked = model.generate({ messages, sampling: { maxTokens: 8 } }, { signal })
        await assert.rejects(
          asked,
          (thrown) => thrown instanceof ModelFault && thrown.outcome === 'context_overflow',
        )
        await model.close?.()
      },
    }),
  ),
  {
    name: 'a seed, and no temperature',
    carryOut: ({ server, gateway }) =>
      atSeat(gateway, llamaModel(server), async (address) => {
        const said = async (extra: object) =>
          (await ask('chat', address, { ...story, maxTokens: 24, extra })).text
        assert.equal(await said({ temperature: 0 }), await said({ temperature: 0 }))
        // The server's cache changes the last digits of what it samples from.
        const drawn = (seed: number) => said({ temperature: 1, seed, cache_prompt: false })
        const first = await drawn(1)
        assert.equal(await drawn(1), first)
        assert.notEqual(await drawn(2), first)
      }),
  },
  {
    name: 'the count of a prompt is that of the reply',
    carryOut: ({ server, gateway }) =>
      atSeat(gateway, llamaModel(server), async ({ baseURL, apiKey }, calls) => {
        const messages = [{ role: 'user', content: 'Say naïve, 東京.' }]
        const asked = async (path: string) => {
          const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
          const body = JSON.stringify({ model: 'any', messages, ...(path === '' ? { max_tokens: 1 } : {}) })
          return (await fetch(`${baseURL}/messages${path}`, { method: 'POST', headers, body })).json()
        }
        const { input_tokens: counted } = (await asked('/count_tokens')) as { input_tokens: number }
        await asked('')
        const { usage } = calls[0]!
        assert.equal(counted, usage!.fresh + usage!.cacheRead)
      }),
  },
  {
    name: 'a tool by name, which the server does not heed',
    carryOut: ({ server, gateway }) =>
      atSeat(gateway, llamaModel(server), async (address) => {
        const tool = (name: string) => ({
          name,
          description: '',
          parameters: { type: 'object', properties: {} },
        })
        const extra = { tool_choice: { type: 'function', function: { name: 'a' } } }
        const question: Question = { ...story, maxTokens: 40, extra }
        await assert.rejects(ask('chat', address, { ...question, tools: [tool('a'), tool('b')] }), Refused)
        await ask('chat', address, { ...question, tools: [tool('a')] })
      }),
  },
]

/** Has the server write on; a field that is its own. */
function endless(program: string): object {
  return program === 'chat' ? { ignore_eos: true } : {}
}
