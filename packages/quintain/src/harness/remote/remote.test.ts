import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { ModelAddress } from '../../core/index.ts'
import { type FakeOptions, fakeContext } from '../__fixtures__/fake-context.ts'
import type { RemoteOptions } from './options.ts'
import { remote } from './remote.ts'
import { statusIn } from './service.ts'

interface Init {
  messages: { role: string; content: string }[]
  tools: { function: { name: string } }[] | null
  model_base_url: string | null
  api_key: string | null
  metadata: { rollout_id: string; row_id: string; quintain: { tools_url: string | null; turn: number } }
}

const address: ModelAddress = {
  baseURL: 'http://127.0.0.1:9/r/h/v1',
  anthropicBaseURL: 'http://127.0.0.1:9/r/h',
  apiKey: 'key',
  model: 'quintain',
  socketPath: '/nowhere.sock',
  path: '/r/h/v1',
  fetch: () => Promise.reject(new Error('not here')),
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Said = { status?: number; body?: unknown; never?: boolean; cut?: boolean }

/** A service whose replies are given; what it was asked is kept. */
async function service(replies: {
  init?: (body: Init, nth: number) => Said | Promise<Said>
  status?: (id: string, nth: number) => Said
}) {
  const inits: Init[] = []
  const asked: string[] = []
  let statuses = 0
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://service')
    asked.push(`${request.method} ${url.pathname}${request.headers['x-key'] ? ' with key' : ''}`)
    let said: Said = { status: 404, body: { error: 'not found' } }
    if (url.pathname === '/init') {
      const body = JSON.parse(await bodyOf(request)) as Init
      inits.push(body)
      said = (await replies.init?.(body, inits.length - 1)) ?? { body: { ok: true } }
    } else if (url.pathname === '/status' && replies.status !== undefined)
      said = replies.status(url.searchParams.get('rollout_id') ?? '', statuses++)
    if (said.never) return
    if (said.cut) return void request.socket.destroy()
    const text = typeof said.body === 'string' ? said.body : JSON.stringify(said.body ?? {})
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json' }).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  closing.push(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, inits, asked, close }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

async function play(url: string, options: FakeOptions & { remote?: RemoteOptions } = {}) {
  const { context, done } = fakeContext({ address: async () => address, ...options })
  const result = await remote(url, { pollMs: 20, graceMs: 50, ...options.remote }).run(context)
  return { ...result, ...done }
}

const over = (info: Record<string, unknown> = {}): Said => ({ body: { terminated: true, info } })
const running: Said = { body: { terminated: false } }

describe('remote', () => {
  test('starts a rollout and follows it to its end', async () => {
    const agent = await service({ status: (_id, nth) => (nth < 3 ? running : over({ answer: 'done' })) })
    const end = await play(`${agent.url}/`, { tools: true, remote: { headers: { 'x-key': 'mine' } } })
    expect(end).toMatchObject({ outcome: 'completed', answer: 'done' })
    expect(agent.inits).toHaveLength(1)
    expect(agent.inits[0]).toMatchObject({
      completion_params: { model: 'quintain' },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'go' },
      ],
      model_base_url: address.baseURL,
      api_key: 'key',
      metadata: { row_id: 'task-1', quintain: { task: { id: 'task-1' }, turn: 0 } },
    })
    expect(agent.inits[0]!.tools!.map((tool) => tool.function.name)).toEqual(['act', 'end'])
    expect(agent.asked).toEqual(['POST /init with key', ...Array<string>(4).fill('GET /status with key')])
  })

  test('may answer only when the rollout is over', async () => {
    const agent = await service({ init: () => ({ body: { answer: 'at once' } }) })
    expect(await play(agent.url, { remote: { waits: 'init' } })).toMatchObject({ answer: 'at once' })
    expect(agent.asked).toEqual(['POST /init'])
  })

  test('that reports no answer has said what its model said last', async () => {
    const agent = await service({ status: () => over() })
    const { context } = fakeContext({ address: async () => address })
    context.model.lastReply = () => ({ role: 'assistant', content: 'from the model' })
    const end = await remote(agent.url).run(context)
    expect(end).toMatchObject({ outcome: 'completed', answer: 'from the model' })
    expect(await play(agent.url)).toMatchObject({ outcome: 'completed', stop: 'no_answer' })
  })

  test('hands its answers to the world; each turn is a rollout', async () => {
    const agent = await service({
      init: (body) => ({ body: { terminated: true, answer: `${body.messages.at(-1)!.content}!` } }),
    })
    const end = await play(agent.url, {
      reply: (_content, nth) => (nth === 1 ? { content: 'yes', done: 'won' } : { content: 'again' }),
    })
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won', said: ['go!', 'again!'] })
    expect(agent.inits.map(({ messages }) => messages.length)).toEqual([2, 4])
    expect(new Set(agent.inits.map(({ metadata }) => metadata.rollout_id)).size).toBe(2)
  })

  test('uses the tools of the world, and is told to stop when one has ended the episode', async () => {
    const agent = await service({
      init: async ({ metadata }) => {
        await fetch(`${metadata.quintain.tools_url}/end`, { method: 'POST', body: '{}' })
        return {}
      },
      status: () => running,
    })
    const end = await play(agent.url, { tools: true })
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'sold' })
    expect(agent.asked.at(-1)).toBe('POST /cancel')
  })

  test('is told to stop when the attempt is over', async () => {
    const stop = new AbortController()
    const agent = await service({
      status: (_id, nth) => {
        if (nth === 1) stop.abort(new Error('the rollout is over'))
        return running
      },
    })
    await expect(play(agent.url, { signal: stop.signal })).rejects.toThrow('the rollout is over')
    expect(agent.asked.at(-1)).toBe('POST /cancel')
  })

  test('that says it failed is an agent that failed', async () => {
    for (const said of [
      over({ error: 'no key' }),
      { body: { status: { code: 13, message: 'no key' } } },
      { body: { terminated: true, info: { status: { code: 4, message: 'no key' } } } },
    ]) {
      const agent = await service({ status: () => said })
      await expect(play(agent.url)).rejects.toMatchObject({
        name: 'RemoteFailure',
        message: 'the agent says that it failed: no key',
      })
    }
  })

  test('that answers without end is an agent that failed', async () => {
    const endless = { body: JSON.stringify({ terminated: true, info: { answer: 'a'.repeat(5 * 2 ** 20) } }) }
    for (const replies of [{ status: () => endless }, { init: () => endless }]) {
      const agent = await service(replies)
      await expect(play(agent.url)).rejects.toMatchObject({
        name: 'RemoteFailure',
        message: expect.stringContaining('more than 4194304 bytes') as string,
      })
    }
  })

  test.for<[string, Parameters<typeof service>[0], string, boolean]>([
    ['refuses', { init: () => ({ status: 400, body: 'what?' }) }, 'agent_refused', false],
    ['has no init', { init: () => ({ status: 404 }) }, 'agent_refused', false],
    ['is overloaded', { init: () => ({ status: 503 }) }, 'agent_unreachable', true],
    ['breaks off', { init: () => ({ cut: true }) }, 'agent_unreachable', true],
    ['has no status', {}, 'agent_status_missing', false],
    ['gives errors for its status', { status: () => ({ status: 500 }) }, 'agent_lost', true],
    ['breaks off its status', { status: () => ({ cut: true }) }, 'agent_lost', true],
    ['never gives its status', { status: () => ({ never: true }) }, 'agent_lost', true],
    ['gives a status that is no JSON', { status: () => ({ body: '{"terminated":' }) }, 'agent_lost', true],
    ['gives a status that is none', { status: () => ({ body: { terminated: 'yes' } }) }, 'agent_lost', true],
  ])('that %s is a fault', async ([, replies, code, retryable]) => {
    const agent = await service(replies)
    await expect(
      play(agent.url, { remote: code === 'agent_lost' ? { lostAfterMs: 300 } : {} }),
    ).rejects.toMatchObject({
      name: 'SeatStop',
      fault: { owner: 'platform', code, retryable },
    })
    // What gives no status may spend all the same.
    if (code === 'agent_lost') expect(agent.asked.at(-1)).toBe('POST /cancel')
  })

  test('that is down, and one that comes back', async () => {
    const down = await service({})
    down.close()
    await expect(play(down.url)).rejects.toMatchObject({ fault: { code: 'agent_unreachable' } })
    const back = await service({ status: (_id, nth) => (nth < 2 ? { cut: true } : over({ answer: 'back' })) })
    // Shorter than what a status may take at most.
    expect(await play(back.url, { remote: { lostAfterMs: 14_000 } })).toMatchObject({ answer: 'back' })
  })

  test('elsewhere needs an address at which it reaches the gateway', async () => {
    expect(() => remote('https://agent.example')).toThrow(expect.objectContaining({ code: 'usage' }))
    expect(() => remote('agent.example')).toThrow(expect.objectContaining({ code: 'usage' }))
    expect(remote('https://agent.example', { publicUrl: null, name: 'theirs' }).name).toBe('remote:theirs@1')
    const agent = await service({ status: () => over({ answer: 'a' }) })
    await play(agent.url, { tools: true, remote: { publicUrl: 'https://gate.example/' } })
    await play(agent.url, { remote: { publicUrl: null } })
    expect(agent.inits).toMatchObject([
      { model_base_url: 'https://gate.example/r/h/v1', metadata: { quintain: { tools_url: null } } },
      { model_base_url: null, api_key: null, tools: null },
    ])
  })

  test('status is read whatever it is', () => {
    for (const odd of [undefined, null, 1, 'x', [], { terminated: 'yes' }, { info: 5, status: 'x' }])
      expect(statusIn(odd)).toEqual({ over: false })
    fc.assert(fc.property(fc.anything(), (said) => typeof statusIn(said).over === 'boolean'))
    expect(statusIn({ status: { code: 101 } })).toEqual({ over: false })
    expect(statusIn({ status: { code: 100 } })).toEqual({ over: true })
  })
})
