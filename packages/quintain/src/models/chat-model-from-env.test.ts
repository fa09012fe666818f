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
