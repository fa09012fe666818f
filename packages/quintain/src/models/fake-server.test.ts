import { expect, test } from 'vitest'
import { createChatModel } from './chat-client.ts'
import { forkFakeModel } from './fake-server.ts'

test('the fake model runs in a process of its own, with a script', async () => {
  const fake = await forkFakeModel({ text: 'from afar', script: [{ kind: 'status', status: 500 }] })
  const model = createChatModel({ model: 'fake', baseUrl: fake.url, retry: { baseMs: 1 } })
  const reply = await model.generate({ messages: [] }, { signal: new AbortController().signal })
  expect(reply.message.content).toBe('from afar')
  expect(reply.retries).toHaveLength(1)
  await model.close?.()
  await fake.close()
})
