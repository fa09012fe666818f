import assert from 'node:assert/strict'
import type { DialectName } from '../../packages/quintain/src/core/index.ts'
import type { Check, Place } from './check.ts'
import { ask, dialects, type Question, type Said } from './programs.ts'
import { atSeat, llamaModel } from './seat.ts'
import { shown, tools } from './weather.ts'

const greeting: Question = {
  said: [
    { by: 'system', text: 'Answer in one sentence.' },
    { by: 'user', text: 'What is the capital of France?' },
  ],
  maxTokens: 16,
}

/** What the server says to a greeting when nobody stands between. */
let direct: Promise<string> | undefined

/** Programs of each protocol on the server in each of its protocols, whole and streamed. */
export const translationChecks: Check[] = dialects.flatMap((program) =>
  dialects.map((upstream) => ({
    name: `a ${program} program on ${upstream}`,
    carryOut: (place) => converse(place, program, upstream),
  })),
)

async function converse(place: Place, program: DialectName, upstream: DialectName): Promise<void> {
  const { server, gateway } = place
  direct ??= ask('chat', { baseURL: server.baseUrl, apiKey: 'none' }, greeting).then(({ text }) => text)
  await atSeat(gateway, llamaModel(server, upstream), async (address, calls) => {
    for (const stream of [false, true]) {
      const said = await ask(program, address, { ...greeting, stream })
      assert.equal(said.text, await direct)
      const { usage } = calls.at(-1)!
      assert.deepEqual([said.input, said.output], [usage!.fresh + usage!.cacheRead, usage!.output])

      const called = await ask(program, address, {
        said: shown,
        tools,
        mustCall: true,
        maxTokens: 60,
        stream,
      })
      const [call] = called.calls
      assert.equal(call?.name, 'get_weather')
      assert.deepEqual(JSON.parse(call.arguments), { city: 'Paris' })
      assert.equal(
        called.finish,
        { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' }[program],
      )

      const history: Said[] = [
        ...shown,
        { by: 'model', text: called.text, calls: called.calls },
        ...called.calls.map(({ id }): Said => ({ by: 'tool', id, text: 'The weather in Paris is sunny.' })),
      ]
      const told = await ask(program, address, { said: history, tools, maxTokens: 24, stream })
      assert.match(told.text, /sunny/)
    }
  })
}

const city = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Lima'] }, big: { type: 'boolean' } },
  required: ['city', 'big'],
  additionalProperties: false,
}

/** A form of what is said, which the server keeps to by a grammar. */
export const formChecks: Check[] = dialects.map((program) => ({
  name: `a ${program} program that asks for a form`,
  carryOut: ({ server, gateway }) =>
    atSeat(gateway, llamaModel(server), async (address) => {
      const said: Said[] = [{ by: 'user', text: 'Name a city.' }]
      const { text } = await ask(program, address, { said, schema: city, maxTokens: 40 })
      const found = JSON.parse(text) as { city: string; big: boolean }
      assert.deepEqual(Object.keys(found).sort(), ['big', 'city'])
      assert.ok(['Oslo', 'Lima'].includes(found.city))
    }),
}))
