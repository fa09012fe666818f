import { afterEach, expect, test } from 'vitest'
import { ModelFault, type ModelRequest } from '../core/model.ts'
import type { DialectName } from '../core/wire.ts'
import { type ChatModelOptions, createChatModel } from './chat-client.ts'
import { dialects } from './dialects/index.ts'
import { type FakeModel, startFakeModel } from './fake-server.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

const asked: Record<DialectName, Record<string, unknown>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'm', input: 'x' },
  messages: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] },
}

/** What a client says of an answer to the body of a program. */
async function told(
  status: number,
  body: unknown,
  by: DialectName | 'none' = 'chat',
  more: Partial<ChatModelOptions> = {},
) {
  fake = await startFakeModel({ otherwise: { kind: 'status', status, body } })
  const model = createChatModel({ model: 'm', baseUrl: fake.url, retry: { maxRetries: 0 }, ...more })
  const request: ModelRequest =
    by === 'none' ? { messages: [{ role: 'user', content: 'x' }] } : dialects[by].readRequest(asked[by])
  const thrown = await model
    .generate(request, { signal: new AbortController().signal })
    .catch((error: unknown) => error)
  await model.close?.()
  return thrown instanceof ModelFault ? thrown.rejected : 'no fault'
}
const error = { message: 'no such field', code: 'unknown_field', extra: [1, 'sk-abcdefghijklmnop'] }

test.each([400, 413, 422])(
  'status %s to the body of a program is told with what the provider wrote',
  async (status) => {
    expect(await told(status, { error })).toEqual({
      status,
      body: { error: { ...error, extra: [1, '***'] } },
    })
  },
)

test('what was translated from the protocol of a program is its own to mend too, without words of another protocol', async () => {
  expect(await told(400, { error }, 'responses')).toEqual({ status: 400 })
  expect(await told(401, { error }, 'responses')).toBeUndefined()
})

test('what is no JSON, as of a proxy, is told by its status, without its words', async () => {
  expect(await told(400, 'go away')).toEqual({ status: 400 })
  expect(await told(502, 'go away')).toBeUndefined()
})

test.each<[string, number, unknown, (DialectName | 'none')?, Partial<ChatModelOptions>?]>([
  ['a wrong key', 401, { error }],
  ['a model that is not there', 404, { error }],
  ['a server that fails', 500, { error }],
  ['a history that does not fit', 400, { error: { message: 'maximum context length is 5 tokens' } }],
  ['a request that no program wrote', 400, { error }, 'none'],
  [
    'fields that we ask for',
    400,
    { error: { message: 'return_token_ids is unknown' } },
    'chat',
    { server: 'vllm' },
  ],
])('%s is not', async (_name, ...given) => {
  expect(await told(...(given as Parameters<typeof told>))).toBeUndefined()
})
