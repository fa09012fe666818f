import { afterEach, expect, test } from 'vitest'
import { ModelFault, type ModelRequest, type ModelResponse } from '../core/model.ts'
import { createChatModel } from './chat-client.ts'
import { type FakeBehaviour, startFakeModel } from './fake-server.ts'

/** A key that nothing but its value gives away. */
const key = 'zq7Lm0XwQ4tRbJ9KcVhY2pNd'
const request: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] }
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function answerTo(behaviour: FakeBehaviour, stream = false): Promise<ModelResponse | ModelFault> {
  const fake = await startFakeModel({ script: [behaviour] })
  const model = createChatModel({
    model: 'fake',
    baseUrl: fake.url,
    apiKey: key,
    stream,
    retry: { maxRetries: 0 },
  })
  closers.push(
    () => fake.close(),
    () => model.close?.(),
  )
  return model.generate(request, { signal: new AbortController().signal }).catch((thrown: unknown) => {
    expect(thrown).toBeInstanceOf(ModelFault)
    return thrown as ModelFault
  })
}

/** Each place that a cut may fall on within the key, for a cut at `limit`. */
const cuts = [4, 8, 12, 20].map((inside) => inside - 1)

function expectNoKey(answer: ModelResponse | ModelFault): void {
  const text = JSON.stringify(answer instanceof Error ? [answer.fault, answer.retries] : answer)
  for (let length = 4; length <= key.length; length++) expect(text).not.toContain(key.slice(0, length))
}

/** Errors are cut to 300 characters, what is no completion to 120: the key is put across either, and across what is read. */
const starts = [118, 120, 300, 20_001].flatMap((limit) => cuts.map((inside) => limit - inside))

test.each(
  starts.flatMap((start): [string, FakeBehaviour, boolean][] => {
    const text = `${'x'.repeat(start)}${key} is wrong`
    const pad = 'x'.repeat(Math.max(0, start - 10))
    return [
      ['an error', { kind: 'status', status: 401, body: { error: { message: text } } }, false],
      ['a text', { kind: 'status', status: 500, body: text }, false],
      ['a 200 that is no JSON', { kind: 'status', status: 200, body: text }, false],
      ['a reply without choices', { kind: 'ok', body: { pad, key } }, false],
      ['an error in a stream', { kind: 'stream', chunks: [{ error: { message: text } }] }, true],
      ['half a chunk', { kind: 'stream', chunks: [`data: {"pad":"${pad}${key}\n\n`], end: false }, true],
    ].map(([name, behaviour, stream]) => [
      `${name as string}, from character ${start} on`,
      behaviour as FakeBehaviour,
      stream as boolean,
    ])
  }),
)('no part of a key that was cut is shown: %s', async (_name, behaviour, stream) => {
  const answer = await answerTo(behaviour, stream)
  expect(answer).toBeInstanceOf(ModelFault)
  expectNoKey(answer)
})

test.each([`${key.slice(0, 10)}****${key.slice(-4)}`, `${key.slice(0, 8)}…`, key.split('').join('\u200b')])(
  'a key that a provider quotes masked (%s) is not shown',
  async (quoted) => {
    const message = `Incorrect API key provided: ${quoted}.`
    const answer = await answerTo({ kind: 'status', status: 401, body: { error: { message } } })
    expect((answer as ModelFault).fault.message).toContain('Incorrect API key provided: ***.')
  },
)

const call = (id: string) => ({
  id,
  type: 'function',
  function: { name: `f-${key}`, arguments: `{"k":"${key}"}` },
})

test('a reply holds no key, whichever of its fields the server put it in', async () => {
  const body = {
    id: `r-${key}`,
    model: `m-${key}`,
    weight_version: key,
    choices: [
      {
        finish_reason: `because ${key}`,
        message: {
          content: [{ text: `said ${key.slice(0, 5)}` }, { text: key.slice(5) }],
          reasoning: `thought ${key}`,
          details: [{ [key]: { echo: key } }],
          tool_calls: [call(key), call(key)],
        },
      },
    ],
  }
  const reply = (await answerTo({ kind: 'ok', body })) as ModelResponse
  expectNoKey(reply)
  expect(reply).toMatchObject({
    responseId: 'r-***',
    model: 'm-***',
    policyVersion: '***',
    finishRaw: 'because ***',
    message: { content: 'said ***', reasoning: 'thought ***' },
  })
  const ids = reply.message.toolCalls!.map(({ id }) => id)
  expect(new Set(ids).size).toBe(2)
  expect(reply.message.toolCalls![0]).toMatchObject({ name: 'f-***', arguments: '{"k":"***"}' })
})

test('a streamed reply holds no key, not even one that came in pieces', async () => {
  const piece = (delta: object) => ({ id: `r-${key}`, model: key, choices: [{ index: 0, delta }] })
  const chunks = [
    ...[...`said ${key}`].map((character) => piece({ content: character })),
    piece({ tool_calls: [{ index: 0, ...call(key) }] }),
    { choices: [{ index: 0, delta: {}, finish_reason: `x${key}` }] },
  ]
  const reply = (await answerTo({ kind: 'stream', chunks }, true)) as ModelResponse
  expectNoKey(reply)
  expect(reply).toMatchObject({ responseId: 'r-***', model: '***', message: { content: 'said ***' } })
})
