import { afterEach, describe, expect, test } from 'vitest'
import type { OpenDoor } from '../serve/door.ts'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { nativeDoor } from './door.ts'

const open: OpenDoor[] = []

afterEach(async () => {
  for (const door of open.splice(0)) await door.close()
})

async function serve(cores: SessionCore[], token?: string) {
  const door = await nativeDoor.open(cores, {
    host: '127.0.0.1',
    port: 0,
    ...(token === undefined ? {} : { token }),
    log: () => {},
  })
  open.push(door)
  const { url } = door.addresses[0]!
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Answer }
  }
}

/** As much of the answers as the tests look at. */
type Answer = Record<string, never> & {
  session: string
  error?: { code: string; fault?: unknown }
  tasks: { id: string }[]
}

const first = { task: { split: 'train', index: 0 } }

describe('the native door', () => {
  test('shows its environments and their tasks, a page at a time', async () => {
    const ask = await serve([fakeCore({ slug: 'one' }), fakeCore({ slug: 'two', kind: 'game' })])
    const { json } = await ask('GET', '/v1/environments')
    expect(json).toMatchObject({
      protocol: 1,
      environments: [
        { slug: 'one', rewards: { solved: 1 }, splits: [{ name: 'train', tasks: 3 }, { name: 'test' }] },
        { slug: 'two', needs: ['turns'] },
      ],
    })
    const page = await ask('GET', '/v1/tasks?environment=two&split=test&from=1&to=9')
    expect(page.json.tasks.map(({ id }) => id)).toEqual(['test-1', 'test-2'])
    expect((await ask('GET', '/v1/tasks?split=test')).json.error?.code).toBe('bad_request')
    expect((await ask('GET', '/v1/tasks?environment=three&split=test')).status).toBe(404)
    expect((await ask('GET', '/v1/tasks?environment=one&split=no')).json.error?.code).toBe('unknown_split')
    expect((await ask('GET', '/v1/tasks?environment=one&split=test&from=-1')).status).toBe(400)
  })

  test('plays a session of tools', async () => {
    const ask = await serve([fakeCore({ kind: 'tools' })])
    const { json } = await ask('POST', '/v1/sessions', { ...first, key: 'k' })
    expect(json).toMatchObject({
      task: { id: 'train-0', task: { prompt: 'Question train-0?' } },
      opening: { messages: [{ role: 'system' }, { role: 'user' }], answerTool: null, replies: false },
    })
    const at = `/v1/sessions/${json.session}`
    const added = { content: 'now 3', error: null, done: null }
    const call = { id: 'a', name: 'add', arguments: { by: 3 } }
    expect((await ask('POST', `${at}/call`, call)).json).toEqual(added)
    // The same call again is not carried out again; one that only says that it is the same is refused.
    expect((await ask('POST', `${at}/call`, call)).json).toEqual(added)
    const other = await ask('POST', `${at}/call`, { ...call, arguments: { by: 4 } })
    expect([other.status, other.json.error?.code]).toEqual([409, 'call_conflict'])
    expect((await ask('POST', `${at}/call`, { name: 'nothing', arguments: {} })).json).toMatchObject({
      error: 'unknown_tool',
    })
    const settled = { kind: 'scored', reward: 1, rewards: { solved: 1 }, metrics: { steps: 1 } }
    expect((await ask('POST', `${at}/grade`)).json).toMatchObject(settled)
    expect((await ask('POST', `${at}/grade`, {})).json).toMatchObject(settled)
    expect((await ask('POST', `${at}/call`, { name: 'read', arguments: {} })).json.error?.code).toBe(
      'episode_over',
    )
    expect((await ask('DELETE', at)).json).toEqual({ closed: true })
    expect((await ask('DELETE', at)).json).toEqual({ closed: true })
    expect((await ask('POST', `${at}/grade`)).json.error?.code).toBe('session_gone')
  })

  test('says a fault as a fault and what has no number without one', async () => {
    const fault = { owner: 'judge', stage: 'grade', code: 'timeout', message: 'm', retryable: true } as const
    for (const settles of [
      { kind: 'failed', fault } as const,
      { kind: 'unscored', reason: 'no_tests', outcome: 'completed', metrics: {} } as const,
    ]) {
      const ask = await serve([fakeCore({ settles })])
      const { json } = await ask('POST', '/v1/sessions', first)
      const graded = await ask('POST', `/v1/sessions/${json.session}/grade`, { answer: 'x' })
      expect(graded.json).toEqual(settles)
      expect(JSON.stringify(graded.json)).not.toContain('reward"')
    }
  })

  test('answers 202 to what takes long, and what came of it to the same request', async () => {
    const ask = await serve([fakeCore({ kind: 'game', stepMs: 150 })])
    const { json } = await ask('POST', '/v1/sessions', first)
    const at = `/v1/sessions/${json.session}/act`
    const word = { id: '1', content: 'word' }
    const early = await ask('POST', `${at}?wait=0`, word)
    expect([early.status, early.json]).toEqual([202, { pending: true }])
    const late = await ask('POST', at, word)
    expect([late.status, late.json]).toMatchObject([200, { error: null, done: null }])
  })

  test('begins nothing for a request that does not say well how long it waits', async () => {
    const ask = await serve([fakeCore({ kind: 'tools' })])
    const { json } = await ask('POST', '/v1/sessions', first)
    const at = `/v1/sessions/${json.session}`
    const call = { id: 'a', name: 'add', arguments: { by: 3 } }
    expect((await ask('POST', `${at}/call?wait=soon`, call)).status).toBe(400)
    expect((await ask('POST', `${at}/grade?wait=soon`, {})).status).toBe(400)
    expect((await ask('POST', `${at}/call`, { name: 'read', arguments: {} })).json).toMatchObject({
      content: '0',
    })
  })

  test('refuses what it cannot honour, with a code', async () => {
    const ask = await serve([fakeCore({ most: 1 })])
    const codeOf = async (body: unknown) => {
      const { status, json } = await ask('POST', '/v1/sessions', body)
      return [status, json.error?.code]
    }
    expect(await codeOf({ ...first, seed: 7 })).toEqual([422, 'seed_refused'])
    expect(await codeOf({ task: { id: 'no' } })).toEqual([404, 'unknown_task'])
    expect(await codeOf({ task: { index: 0 } })).toEqual([400, 'bad_request'])
    expect(await codeOf({ ...first, temperature: 1 })).toEqual([400, 'bad_request'])
    expect((await ask('POST', '/v1/sessions/nobody/grade')).status).toBe(404)
    expect((await ask('POST', '/v1/sessions/nobody/steal')).status).toBe(404)
    expect((await ask('GET', '/v1/sessions/nobody')).status).toBe(405)
    const { json } = await ask('POST', '/v1/sessions', first)
    const full = await ask('POST', '/v1/sessions', first)
    expect([full.status, full.json.error?.code, full.headers.get('retry-after')]).toEqual([
      429,
      'at_capacity',
      '1',
    ])
    expect((await ask('POST', '/v1/touch', { sessions: [json.session, 'nobody'] })).json).toEqual({
      gone: ['nobody'],
    })
  })

  test('asks for the token where there is one, but for its health', async () => {
    const ask = await serve([fakeCore()], 'secret')
    expect((await ask('GET', '/health')).status).toBe(200)
    const refused = await ask('GET', '/v1/environments')
    expect([refused.status, refused.json.error?.code]).toEqual([401, 'unauthorized'])
    const shown = await ask('GET', '/v1/environments', undefined, { authorization: 'Bearer secret' })
    expect(shown.status).toBe(200)
  })
})
