import { afterEach, expect, test } from 'vitest'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import { NemoClient, response, row, served } from './__fixtures__/client.ts'
import { legacyClient, type McpClient, modernClient } from './__fixtures__/mcp-client.ts'
import type { JsonObject } from './json.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function seeded(options: FakeOptions) {
  const core = fakeCore(options)
  const { door, url } = await served(core)
  opened.push(core, door)
  const agent = new NemoClient(url)
  const { json } = await agent.post('/seed_session', row())
  const { headers, url_path } = json!['mcp'] as { headers: Record<string, string>; url_path: string }
  return { agent, url: `${url}${url_path}`, headers, core }
}

const eras = {
  legacy: legacyClient,
  modern: async (url: string, headers: Record<string, string>) => modernClient(url, headers),
}
const add = (client: McpClient, by: unknown) =>
  client.request('tools/call', { name: 'add', arguments: { by } })

test.each(['legacy', 'modern'] as const)('a %s client plays the tools of its session', async (era) => {
  const { agent, url, headers } = await seeded({ kind: 'tools' })
  const client = await eras[era](url, headers)
  const { tools } = (await client.request('tools/list')) as { tools: JsonObject[] }
  expect(tools.map(({ name }) => name)).toEqual(['add', 'read'])
  await add(client, 1)
  expect(await add(client, '2')).toMatchObject({
    isError: true,
    content: [{ text: 'by: a number is missing.' }],
  })
  // The environment hears of it too, as it does of a call by POST.
  expect(await client.request('tools/call', { name: 'divide', arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: 'There is no tool "divide".' }],
  })
  // As the taskset of verifiers does: a connection for each call.
  expect(await add(await eras[era](url, headers), 2)).toMatchObject({ content: [{ text: 'now 3' }] })
  const verified = await agent.post('/verify', { ...row(), response: response('Three.') })
  expect(verified.json).toMatchObject({ reward: 1 })
  expect(await add(client, 2)).toMatchObject({
    isError: true,
    content: [{ text: 'Not carried out: the episode is over.' }],
  })
})

test('sessions have tools and tokens of their own', async () => {
  const first = await seeded({ kind: 'tools' })
  const other = new NemoClient(first.agent.url)
  const { json } = await other.post('/seed_session', row())
  const { headers } = json!['mcp'] as { headers: Record<string, string> }
  expect(headers).not.toEqual(first.headers)
  await add(modernClient(first.url, headers), 5)
  expect((await first.agent.post('/read', {})).text).toBe('0')
  expect((await other.post('/read', {})).text).toBe('5')
})

test('without a token, with another and with that of a closed session nothing is served', async () => {
  const { agent, url, headers } = await seeded({ kind: 'tools' })
  const ask = (given: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...given,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    })
  expect((await ask({})).status).toBe(401)
  expect((await ask({ 'x-nemo-gym-session-token': 'x'.repeat(32) })).status).toBe(404)
  await agent.post('/close_session', {})
  expect((await ask(headers)).status).toBe(404)
})
