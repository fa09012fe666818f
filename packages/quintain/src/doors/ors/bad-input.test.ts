import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { QuintainError } from '../../core/index.ts'
import type { OpenDoor } from '../serve/door.ts'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import { OrsClient, outputOf } from './__fixtures__/ors-client.ts'
import { readEvents } from './__fixtures__/read-events.ts'
import { orsDoor } from './door.ts'

const doors: OpenDoor[] = []
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()))
})

interface Served {
  client: OrsClient
  core: SessionCore
  lines: string[]
}

async function serve(options: FakeOptions = {}, token?: string): Promise<Served> {
  const core = fakeCore(options)
  const lines: string[] = []
  const door = await orsDoor.open([core], {
    host: '127.0.0.1',
    port: 0,
    log: (line) => lines.push(line),
    ...(token === undefined ? {} : { token }),
  })
  doors.push(door)
  return { client: new OrsClient(door.addresses[0]!.url), core, lines }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('sessions', () => {
  test('nothing can be done without one, in one that was made up, or in one without an episode', async () => {
    const { client } = await serve()
    const empty = await client.name()
    for (const [method, path] of [
      ['GET', '/prompt'],
      ['GET', '/messages'],
      ['GET', '/task_tools'],
      ['POST', '/ping'],
      ['POST', '/call'],
    ] as const) {
      const status = async (sid?: string) =>
        (await client.ask(method, path, method === 'GET' ? undefined : { name: 'x' }, sid)).status
      expect(await status()).toBe(400)
      expect(await status('made-up')).toBe(404)
      expect(await status(empty)).toBe(404)
    }
    const made = await client.ask('POST', '/create', { split: 'train', index: 0 }, 'made-up')
    expect(made).toMatchObject({ status: 404, json: { detail: expect.any(String) } })
  })

  test('one that was deleted is gone, and cannot be made again', async () => {
    const { client } = await serve()
    const sid = await client.session()
    for (let i = 0; i < 2; i++) expect((await client.ask('POST', '/delete', {}, sid)).status).toBe(200)
    expect((await client.ask('POST', '/ping', {}, sid)).status).toBe(410)
    expect((await client.ask('POST', '/call', { name: 'submit_answer' }, sid)).status).toBe(410)
    expect((await client.ask('POST', '/create', { split: 'train', index: 0 }, sid)).status).toBe(410)
  })

  test('made again with the same task it is the same, and another task is a conflict', async () => {
    const { client, core } = await serve({ kind: 'game' })
    const sid = await client.session()
    await client.output(sid, 'say', { message: 'a' })
    const again = await client.ask('POST', '/create', { task_spec: { id: 'train-0' } }, sid)
    expect(again).toMatchObject({ status: 200, json: { sid } })
    expect((await client.ask('POST', '/create', { split: 'train', index: 1 }, sid)).status).toBe(409)
    expect((await client.output(sid, 'say', { message: 'right' })).reward).toBe(1)
    expect(core.stats().created).toBe(1)
  })

  test('made twice at once it is one', async () => {
    const { client, core } = await serve()
    const sid = await client.name()
    const body = { split: 'train', index: 0 }
    const both = await Promise.all([0, 1].map(() => client.ask('POST', '/create', body, sid)))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(core.stats().created).toBe(1)
    await client.output(sid, 'submit_answer', { answer: 'right' })
  })

  test('more than there is room for are told so, and there is room again after one was deleted', async () => {
    const { client } = await serve({ most: 1 })
    const sid = await client.session()
    const next = await client.name()
    const refused = await client.ask('POST', '/create', { split: 'train', index: 0 }, next)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('2')
    await client.ask('POST', '/delete', {}, sid)
    expect((await client.ask('POST', '/create', { split: 'train', index: 0 }, next)).status).toBe(200)
  })

  test('a server that drains takes no more', async () => {
    const { client, core } = await serve()
    await core.drain(0)
    const sid = await client.name()
    expect((await client.ask('POST', '/create', { split: 'train', index: 0 }, sid)).status).toBe(503)
  })

  test('the name for a session is given again to a client that comes back for it', async () => {
    const { client } = await serve()
    const sid = await client.name()
    const events = async (task_id: string) =>
      readEvents((await client.ask('POST', '/create_session', { task_id })).json as string)
    expect((await events(sid))[0]!.data).toBe(sid)
    expect((await events('made-up'))[0]!.data).not.toBe('made-up')
  })
})

describe('requests', () => {
  test('what is no request of the protocol is refused with a reason', async () => {
    const { client } = await serve()
    const sid = await client.session()
    const refused = async (status: number, method: 'GET' | 'POST', path: string, body?: unknown) => {
      const answer = await client.ask(method, path, body, sid)
      expect([path, answer.status]).toEqual([path, status])
      expect(answer.json.detail).toMatch(/\w/)
    }
    await refused(404, 'GET', '/')
    await refused(404, 'GET', '/nothing')
    await refused(404, 'GET', '/other/tools')
    await refused(404, 'GET', '/fake/fake/tools')
    await refused(404, 'GET', '/fake/health')
    await refused(404, 'GET', '/__proto__')
    await refused(405, 'GET', '/call')
    await refused(405, 'POST', '/fake/tools', {})
    const removed = await fetch(`${client.url}/splits`, { method: 'DELETE' })
    expect([removed.status, removed.headers.get('allow')]).toEqual([405, 'GET'])
    await refused(400, 'POST', '/call', '{"name":')
    await refused(400, 'POST', '/call', '[1]')
    await refused(400, 'POST', '/call', `${'['.repeat(10_000)}1${']'.repeat(10_000)}`)
    await refused(400, 'POST', '/call', { name: 3 })
    await refused(400, 'POST', '/call', { input: {} })
    await refused(400, 'POST', '/call', { name: 'submit_answer', input: '{}' })
    await refused(400, 'POST', '/num_tasks', {})
    await refused(400, 'POST', '/num_tasks', { split: 'none' })
    await refused(400, 'POST', '/tasks', { split: 'none' })
    await refused(400, 'POST', '/task', { split: 'train', index: 3 })
    await refused(400, 'POST', '/task', { split: 'train', index: -1 })
    await refused(400, 'POST', '/task', { split: 'train', index: 0.5 })
    await refused(400, 'POST', '/task_range', { split: 'train', start: 'a' })
    await refused(400, 'POST', '/create_session', { env: { HOME: '/' } })
    await refused(413, 'POST', '/call', { name: 'submit_answer', input: { a: 'x'.repeat(17 * 2 ** 20) } })
  })

  test('a task that is none, or is named twice, is refused', async () => {
    const { client, core } = await serve()
    const sid = await client.name()
    for (const [body, status] of [
      [{}, 400],
      [{ split: 'train' }, 400],
      [{ index: 0 }, 400],
      [{ split: 'train', index: 0, task_spec: { id: 'train-0' } }, 400],
      [{ task_spec: 'train-0' }, 400],
      [{ task_spec: {} }, 400],
      [{ task_spec: { id: 'none' } }, 400],
      [{ split: 'none', index: 0 }, 400],
      [{ split: 'train', index: 7 }, 400],
      [{ split: 'train', index: 0, env_name: 'other' }, 404],
      [{ split: 'train', index: 0, toolset_name: 'codex' }, 400],
      [{ split: 'train', index: 0, seed: 7 }, 400],
    ] as const)
      expect([body, (await client.ask('POST', '/create', body, sid)).status]).toEqual([body, status])
    expect(core.stats().created).toBe(0)
    const nulls = {
      split: 'train',
      index: 0,
      task_spec: null,
      env_name: null,
      toolset_name: null,
      seed: null,
    }
    expect((await client.ask('POST', '/create', nulls, sid)).status).toBe(200)
  })

  test('a wrong token opens nothing but the sign of life', async () => {
    const { client } = await serve({}, 'right-token')
    const as = (headers: Record<string, string>) => new OrsClient(client.url, headers)
    expect((await client.ask('GET', '/health')).status).toBe(200)
    for (const headers of [
      {},
      { 'x-api-key': 'wrong' },
      { authorization: 'Bearer wrong' },
      { 'x-api-key': '' },
    ])
      for (const path of ['/tools', '/list_environments', '/splits'])
        expect((await as(headers as Record<string, string>).ask('GET', path)).status).toBe(401)
    for (const headers of [{ 'x-api-key': 'right-token' }, { authorization: 'Bearer right-token' }])
      expect((await as(headers as Record<string, string>).ask('GET', '/splits')).status).toBe(200)
  })

  test('secrets that clients send reach neither the log nor an answer', async () => {
    const { client, lines } = await serve()
    const header = Buffer.from(JSON.stringify({ KEY: { value: 'THE-SECRET' } })).toString('base64')
    const with_ = new OrsClient(client.url, { 'x-secrets': header })
    const sid = await with_.session()
    await with_.output(sid, 'submit_answer', { answer: 'right' })
    const bad = await with_.ask('POST', '/create', { task_spec: {}, secrets: { KEY: 'THE-SECRET' } }, sid)
    for (const text of [...lines, JSON.stringify(bad.json)]) {
      expect(text).not.toContain('THE-SECRET')
      expect(text).not.toContain(header)
    }
  })

  test('beyond this machine it listens with a token only', async () => {
    const opening = orsDoor.open([fakeCore()], { host: '0.0.0.0', port: 0, log: () => {} })
    await expect(opening).rejects.toSatisfy((thrown) => (thrown as QuintainError).code === 'usage')
  })

  test('a port that is taken closes the ports that were opened before it', async () => {
    const { client } = await serve()
    const taken = Number(new URL(client.url).port)
    const cores = [fakeCore({ slug: 'one' }), fakeCore({ slug: 'two' })]
    const opening = orsDoor.open(cores, { host: '127.0.0.1', port: taken - 1, log: () => {} })
    await expect(opening).rejects.toThrow(QuintainError)
    await expect(fetch(`http://127.0.0.1:${taken - 1}/health`)).rejects.toThrow()
  })

  test('environments have a port each and do not see one another', async () => {
    const door = await orsDoor.open([fakeCore({ slug: 'one' }), fakeCore({ slug: 'two' })], {
      host: '127.0.0.1',
      port: 0,
      log: () => {},
    })
    doors.push(door)
    expect(door.addresses.map(({ environments, plane }) => [environments, plane])).toEqual([
      [['one'], 'both'],
      [['two'], 'both'],
    ])
    const [one, two] = door.addresses.map(({ url }) => new OrsClient(url)) as [OrsClient, OrsClient]
    expect((await one.ask('GET', '/list_environments')).json).toEqual(['one'])
    expect((await one.ask('GET', '/two/tools')).status).toBe(404)
    const sid = await one.session()
    expect((await two.ask('POST', '/ping', {}, sid)).status).toBe(404)
  })
})

describe('calls', () => {
  test('a client that comes back with the name of its call gets the same result, and nothing is done twice', async () => {
    const { client } = await serve({ kind: 'tools' })
    const sid = await client.session()
    const first = await client.call(sid, 'add', { by: 2 })
    const task_id = first[0]!.data
    for (let i = 0; i < 3; i++) expect(await client.call(sid, 'add', { by: 2 }, { task_id })).toEqual(first)
    expect((await client.output(sid, 'read')).blocks[0]!.text).toBe('2')
    await client.output(sid, 'add', { by: 1 })
    const end = await client.call(sid, 'submit_answer', { answer: 'x' })
    expect(await client.call(sid, 'submit_answer', { answer: 'x' }, { task_id: end[0]!.data })).toEqual(end)
    expect(outputOf(end).reward).toBe(1)
  })

  test('a call that nobody made, or that was another, or another session had, is not carried out', async () => {
    const { client } = await serve({ kind: 'tools' })
    const [sid, other] = [await client.session(), await client.session()]
    const task_id = (await client.call(sid, 'add', { by: 2 }))[0]!.data
    for (const [whose, id] of [
      [sid, 'made-up'],
      [other, task_id],
      [sid, 7],
    ] as const)
      expect(await client.call(whose, 'add', { by: 2 }, { task_id: id })).toMatchObject([
        { event: 'error', data: 'unknown task_id' },
      ])
    const changed = await client.ask('POST', '/call', { name: 'add', input: { by: 3 }, task_id }, sid)
    expect(changed.status).toBe(409)
    expect((await client.output(sid, 'read')).blocks[0]!.text).toBe('2')
    expect((await client.output(other, 'read')).blocks[0]!.text).toBe('0')
  })

  test('the same call made again is another call when the first was heard', async () => {
    const { client } = await serve({ kind: 'tools' })
    const sid = await client.session()
    for (let i = 0; i < 3; i++) await client.output(sid, 'add', { by: 1 })
    expect((await client.output(sid, 'read')).blocks[0]!.text).toBe('3')
  })

  test('a client that vanished before it heard of its call, and calls again, has it done once', async () => {
    for (const ms of [10, 60]) {
      const { client } = await serve({ kind: 'tools', stepMs: 100 })
      const sid = await client.session()
      await client.leave(sid, 'add', { by: 2 }, ms)
      await sleep(20)
      expect((await client.output(sid, 'add', { by: 2 })).blocks[0]!.text).toBe('now 2')
      expect((await client.output(sid, 'add', { by: 2 })).blocks[0]!.text).toBe('now 4')
    }
  })

  test('a client whose connection broke unheard of, and calls again while its call is carried out, has it done once', async () => {
    const { client } = await serve({ kind: 'tools', stepMs: 900 })
    const sid = await client.session()
    // The first connection stays open here, as one does that broke on the way.
    const first = client.output(sid, 'add', { by: 2 })
    await sleep(500)
    const again = await client.output(sid, 'add', { by: 2 })
    expect(again.blocks[0]!.text).toBe('now 2')
    expect(await first).toEqual(again)
    const together = await Promise.all([1, 2].map(() => client.output(sid, 'add', { by: 2 })))
    expect(together.map(({ blocks }) => blocks[0]!.text)).toEqual(['now 4', 'now 6'])
  })

  test('a client that vanished and went on with something else has both done', async () => {
    const { client } = await serve({ kind: 'tools', stepMs: 50 })
    const sid = await client.session()
    await client.leave(sid, 'add', { by: 2 }, 20)
    expect((await client.output(sid, 'add', { by: 1 })).blocks[0]!.text).toBe('now 3')
  })

  test('a slow call says its name at once and gives its result later', async () => {
    const { client } = await serve({ stepMs: 150 })
    const sid = await client.session()
    const times = await new Promise<{ at: number; text: string }[]>((resolve, reject) => {
      const begun = performance.now()
      const seen: { at: number; text: string }[] = []
      const sent = request(
        `${client.url}/call`,
        { method: 'POST', headers: { 'x-session-id': sid } },
        (answer) => {
          answer.on('data', (data: Buffer) => seen.push({ at: performance.now() - begun, text: `${data}` }))
          answer.on('end', () => resolve(seen))
        },
      )
      sent.on('error', reject)
      sent.end(JSON.stringify({ name: 'submit_answer', input: { answer: 'right' } }))
    })
    expect(times[0]!.text).toBe('event: task_id\ndata: 1\n\n')
    expect(times[0]!.at).toBeLessThan(120)
    expect(times.at(-1)!.at).toBeGreaterThan(140)
    expect(outputOf(readEvents(times.map(({ text }) => text).join(''))).reward).toBe(1)
  })

  test('calls made at once are done one after the other, and one of them carries the reward', async () => {
    const { client } = await serve({ kind: 'game', stepMs: 5 })
    const sid = await client.session()
    const messages = ['a', 'right', 'b', 'right', 'c']
    const outputs = await Promise.all(messages.map((message) => client.output(sid, 'say', { message })))
    expect(outputs.filter(({ reward }) => reward !== null).map(({ reward }) => reward)).toEqual([1])
    expect(outputs.at(-1)).toMatchObject({ finished: true, reward: null })
  })

  test('an episode that is deleted while a call waits gives no reward', async () => {
    const { client } = await serve({ stepMs: 100 })
    const sid = await client.session()
    const calling = client.call(sid, 'submit_answer', { answer: 'right' })
    await sleep(50)
    await client.ask('POST', '/delete', {}, sid)
    const events = await calling
    expect(events.at(-1)!.event).toBe('error')
  })

  test('an episode that ended between two calls gives its reward to the next, once', async () => {
    const { client, core } = await serve({ kind: 'tools' })
    const sid = await client.session()
    await client.output(sid, 'add', { by: 3 })
    // As when its time is up.
    await core.session(sid).grade()
    expect(await client.output(sid, 'read')).toMatchObject({ reward: 1, finished: true })
    expect(await client.output(sid, 'read')).toMatchObject({ reward: null, finished: true })
  })

  test('a refusal is kept for nobody: the call can be made again', async () => {
    const { client, core } = await serve({ kind: 'tools' })
    const sid = await client.session()
    const session = core.session(sid)
    const { call } = session
    session.call = () => Promise.reject(new SessionError('busy', 'Too many calls wait.'))
    const refused = await client.ask('POST', '/call', { name: 'add', input: { by: 1 } }, sid)
    expect(refused).toMatchObject({ status: 429, json: { detail: 'Too many calls wait.' } })
    session.call = call
    expect((await client.output(sid, 'add', { by: 1 })).blocks[0]!.text).toBe('now 1')
  })

  test('a world that fails is an error of the stream, and what broke in the server is told to its log only', async () => {
    const { client, core, lines } = await serve({ kind: 'tools' })
    const sid = await client.session()
    const session = core.session(sid)
    session.call = () => Promise.reject(new SessionError('infrastructure', 'The world was lost.'))
    expect((await client.call(sid, 'read')).at(-1)).toMatchObject({
      event: 'error',
      data: 'The world was lost.',
    })
    session.call = () => Promise.reject(new Error('broken: GOLD'))
    expect((await client.call(sid, 'read')).at(-1)!.data).not.toContain('GOLD')
    expect(lines.join()).toContain('broken: GOLD')
  })

  test('a world that never comes fails when the episode is made, and again when it is made again', async () => {
    const { client, core } = await serve()
    const create = core.create.bind(core)
    core.create = async (request) => {
      const session = await create(request)
      session.opened = () => Promise.reject(new SessionError('infrastructure', 'No world came.'))
      return session
    }
    const sid = await client.name()
    for (let i = 0; i < 2; i++)
      expect(await client.ask('POST', '/create', { split: 'train', index: 0 }, sid)).toMatchObject({
        status: 500,
        json: { detail: 'No world came.' },
      })
    expect((await client.ask('GET', '/prompt', undefined, sid)).status).toBe(500)
    expect(core.stats().created).toBe(1)
  })
})
