import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { chatModelFromEnv } from './chat-model-from-env.ts'
import { startFakeModel } from './fake-server.ts'

test('endpoint and key come from the environment, and the id of an earlier model names the model', async () => {
  const fake = await startFakeModel()
  const env = { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: 'key-of-the-environment' }
  const model = chatModelFromEnv('openai-compatible:some/model', { env })
  expect(model.id).toBe('openai-compatible:some/model')
  await model.generate({ messages: [] }, { signal: new AbortController().signal })
  expect(fake.requests[0]!.body).toMatchObject({ model: 'some/model' })
  expect(fake.requests[0]!.headers.authorization).toBe('Bearer key-of-the-environment')
  await model.close?.()
  await fake.close()
})

test('the public endpoint without a key is refused, with what to do', () => {
  expect(() => chatModelFromEnv('m', { env: {} })).toThrow(/OPENAI_API_KEY is not set/)
  expect(() => chatModelFromEnv('m', { env: { OPENAI_API_KEY: '' } })).toThrow(/OPENAI_API_KEY is not set/)
  const own = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  expect(() => chatModelFromEnv('m', { env: own })).not.toThrow()
  expect(() => chatModelFromEnv('m', { env: own, apiKeyEnv: 'OTHER' })).toThrow(/OTHER is not set/)
})

test.each([
  ['anthropic:claude-x', 'ANTHROPIC', '/v1/messages', 'x-api-key', 'anthropic:claude-x'],
  ['responses:gpt-x', 'OPENAI', '/v1/responses', 'authorization', 'responses:gpt-x'],
])('%s is asked in its own protocol', async (name, family, path, header, id) => {
  const paths: (string | undefined)[] = []
  const keys: unknown[] = []
  const server = createServer((request, response) => {
    paths.push(request.url)
    keys.push(request.headers[header])
    response.writeHead(400).end('{"error":{"message":"not today"}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // Anthropic's packages take a base URL without `/v1`, and OpenAI's one with it.
  const base = `http://127.0.0.1:${port}${family === 'OPENAI' ? '/v1' : ''}`
  const env = { [`${family}_BASE_URL`]: base, [`${family}_API_KEY`]: 'key-of-the-environment' }
  const model = chatModelFromEnv(name, { env, client: { prices: { [name]: { input: 1, output: 1 } } } })
  expect(model).toMatchObject({ id, priced: true, endpoint: `http://127.0.0.1:${port}/v1` })
  const asked = model.generate(
    { messages: [{ role: 'user', content: 'x' }], sampling: { maxTokens: 5 } },
    { signal: new AbortController().signal },
  )
  await expect(asked).rejects.toThrow('not today')
  expect(paths).toEqual([path])
  expect(keys[0]).toContain('key-of-the-environment')
  await model.close?.()
  server.close()
})

test('a key that is missing is named', () => {
  expect(() => chatModelFromEnv('anthropic:claude-x', { env: {} })).toThrow(/ANTHROPIC_API_KEY is not set/)
  expect(() => chatModelFromEnv('responses:gpt-x', { env: {} })).toThrow(/OPENAI_API_KEY is not set/)
})

test('several addresses are replicas that attempts are spread over, and a kind of server is asked for its tokens', async () => {
  const fakes = [await startFakeModel(), await startFakeModel()]
  const baseUrl = fakes.map(({ url }) => url)
  const model = chatModelFromEnv('m', { env: {}, baseUrl, server: 'vllm' })
  expect(model).toMatchObject({ id: 'openai-compatible:m', endpoint: baseUrl.join(' '), server: 'vllm' })
  for (let attempt = 0; attempt < 20; attempt++)
    await model.generate(
      { messages: [{ role: 'user', content: 'x' }] },
      { signal: new AbortController().signal, attempt: `a${attempt}` },
    )
  for (const { requests } of fakes) {
    expect(requests.length).toBeGreaterThan(0)
    expect(requests[0]?.body).toMatchObject({ return_token_ids: true })
  }
  await model.close?.()
  for (const fake of fakes) await fake.close()
})

test('a kind of server that is none, and one of another protocol, are refused', () => {
  const server = 'tgi' as 'vllm'
  expect(() => chatModelFromEnv('m', { env: {}, baseUrl: 'http://a/v1', server })).toThrow(/"tgi"; write one/)
  expect(() => chatModelFromEnv('anthropic:m', { env: {}, baseUrl: 'http://a/v1', server: 'vllm' })).toThrow(
    /not asked by Chat Completions/,
  )
})
