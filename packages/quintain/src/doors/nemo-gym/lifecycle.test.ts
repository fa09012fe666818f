import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { NemoClient, response, row, served } from './__fixtures__/client.ts'

/*
 * The life of a session in the episode protocol of NeMo Gym: what `check_resources_session_contract` of
 * `nemo_gym.testing.session_conformance` (0.7.0) asks of a server that keeps state, and what its documents say beyond
 * that.
 */

const opened: { close(): Promise<void> }[] = []
let core: SessionCore
let url: string

async function open(options: FakeOptions) {
  core = fakeCore(options)
  const { door, url: address } = await served(core)
  opened.push(door, core)
  url = address
}
beforeEach(() => open({ kind: 'tools' }))
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

const episode = { rollout_id: 'rollout-1', attempt: 0 }
const seedOf = (fields: Record<string, unknown> = {}) => ({
  resources_session_id: 'session-1',
  episode_id: episode,
  task_id: { taskset: 'fake', task_id: 'train-0' },
  task_data: { verifier_metadata: row()['verifier_metadata'], task_id: 'train-0' },
  ...fields,
})
const closeOf = (fields: Record<string, unknown> = {}) => ({
  resources_session_id: 'session-1',
  episode_id: episode,
  ...fields,
})
const verification = { ...row(), response: response('done') }

describe('seed', () => {
  test('confirms the name and sets a cookie; tools are reached by it', async () => {
    const agent = new NemoClient(url)
    const seeded = await agent.post('/seed_session', seedOf())
    expect(seeded).toMatchObject({
      status: 200,
      json: {
        resources_session_id: 'session-1',
        resources_tools: { server_name: 'fake', url_path: '/mcp', transport: 'http' },
      },
    })
    expect(Object.keys(seeded.json!).sort()).toEqual(['resources_session_id', 'resources_tools'])
    expect(seeded.cookie).toBeDefined()
    expect(await agent.post('/add', { by: 3 })).toMatchObject({ status: 200, text: 'now 3' })
    expect((await agent.post('/verify', verification)).json).toMatchObject({ reward: 1 })
  })

  test('repeated is the same session, also with no cookie and at the same time', async () => {
    const seeds = await Promise.all([1, 2, 3].map(() => new NemoClient(url).post('/seed_session', seedOf())))
    expect(new Set(seeds.map(({ cookie }) => cookie)).size).toBe(1)
    expect(seeds.every(({ status }) => status === 200)).toBe(true)
    expect(core.stats().created).toBe(1)
  })

  test.each([
    ['another rollout', seedOf({ episode_id: { rollout_id: 'rollout-2', attempt: 0 } })],
    ['another attempt', seedOf({ episode_id: { rollout_id: 'rollout-1', attempt: 1 } })],
    ['another task', seedOf({ task_data: { quintain: { task: 'train-1' } } })],
  ])('that conflicts, by %s, is refused and changes nothing', async (_, conflicting) => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    await agent.post('/add', { by: 2 })
    expect((await new NemoClient(url).post('/seed_session', conflicting)).status).toBe(409)
    expect((await agent.post('/read', {})).text).toBe('2')
  })

  test('that failed can be tried again', async () => {
    await open({ kind: 'tools', most: 1 })
    const first = new NemoClient(url)
    await first.post('/seed_session', seedOf())
    const second = seedOf({ resources_session_id: 'session-2' })
    expect(await new NemoClient(url).post('/seed_session', second)).toMatchObject({ status: 503 })
    await first.post('/close_session', closeOf())
    expect(await new NemoClient(url).post('/seed_session', second)).toMatchObject({ status: 200 })
  })

  test('without a name for the session is named by the episode', async () => {
    const { resources_session_id: _, ...seed } = seedOf()
    const agent = new NemoClient(url)
    const seeded = await agent.post('/seed_session', seed)
    const name = seeded.json?.['resources_session_id']
    expect(name).toEqual(expect.any(String))
    expect((await agent.post('/seed_session', seed)).json?.['resources_session_id']).toBe(name)
    expect(await agent.post('/close_session', closeOf({ resources_session_id: name }))).toMatchObject({
      status: 200,
    })
  })

  test.each([
    ['an unknown field', seedOf({ more: 1 })],
    ['a rollout that is no name', seedOf({ episode_id: { rollout_id: '../x' } })],
    ['a rollout with the suffix of attempts', seedOf({ episode_id: { rollout_id: 'r-a2' } })],
    ['an attempt below none', seedOf({ episode_id: { rollout_id: 'r', attempt: -1 } })],
    ['no task', seedOf({ task_id: null })],
    ['no data', seedOf({ task_data: [] })],
    ['a name that is no text', seedOf({ resources_session_id: 7 })],
    ['a task that is not there', seedOf({ task_data: { quintain: { task: 'nope' } } })],
    [
      'a task of another environment',
      seedOf({ task_data: { quintain: { environment: '@x/y', task: 'train-0' } } }),
    ],
  ])('with %s is refused', async (_, seed) => {
    expect((await new NemoClient(url).post('/seed_session', seed)).status).toBe(422)
    expect(core.stats().created).toBe(0)
  })
})

describe('close', () => {
  test('can be repeated, and needs no cookie', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    for (const closing of [agent, agent, new NemoClient(url)])
      expect(await closing.post('/close_session', closeOf())).toMatchObject({
        status: 200,
        json: { resources_session_id: 'session-1' },
      })
    expect(core.stats().open).toBe(0)
  })

  test('that names another episode is refused, and closes nothing', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    const other = closeOf({ episode_id: { rollout_id: 'rollout-1', attempt: 1 } })
    expect(await agent.post('/close_session', other)).toMatchObject({ status: 409 })
    expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 200, text: 'now 1' })
    await agent.post('/close_session', closeOf())
    expect(await agent.post('/close_session', other)).toMatchObject({ status: 409 })
  })

  test('of a session that was never begun succeeds, and nobody begins it after that', async () => {
    const agent = new NemoClient(url)
    expect(await agent.post('/close_session', closeOf())).toMatchObject({ status: 200 })
    expect(await agent.post('/seed_session', seedOf())).toMatchObject({ status: 409 })
    expect(core.stats().created).toBe(0)
  })

  test('is followed by no seed', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    await agent.post('/close_session', closeOf())
    expect(await agent.post('/seed_session', seedOf())).toMatchObject({ status: 409 })
    expect(core.stats().created).toBe(1)
  })

  test('while the seed is under way leaves no session', async () => {
    const seeding = new NemoClient(url).post('/seed_session', seedOf())
    const closed = new NemoClient(url).post('/close_session', closeOf())
    expect([200, 409]).toContain((await seeding).status)
    expect((await closed).status).toBe(200)
    expect(core.stats().open).toBe(0)
    expect((await new NemoClient(url).post('/seed_session', seedOf())).status).toBe(409)
  })

  test('with an unknown field is refused', async () => {
    expect(await new NemoClient(url).post('/close_session', closeOf({ more: 1 }))).toMatchObject({
      status: 422,
    })
  })

  test('of rows is by the cookie', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', row())
    expect(await agent.post('/close_session', {})).toMatchObject({ status: 200 })
    expect(await agent.post('/close_session', {})).toMatchObject({ status: 200 })
    expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 404 })
  })
})

describe('what comes after close', () => {
  test.each(['answer', 'tools'] as const)('verification is masked, of %s too', async (kind) => {
    await open({ kind })
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    await agent.post('/close_session', closeOf())
    const { json } = await agent.post('/verify', { ...row(), response: response('right') })
    expect(json).toMatchObject({ reward: 0, mask_sample: true, failure_kind: 'session_lost' })
  })

  test('a verdict that was given before is lost with the session', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    expect((await agent.post('/verify', verification)).json).toMatchObject({ mask_sample: false })
    await agent.post('/close_session', closeOf())
    expect((await agent.post('/verify', verification)).json).toMatchObject({ mask_sample: true })
  })

  test('tools are not there', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    await agent.post('/close_session', closeOf())
    expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 404 })
  })
})

describe('verify', () => {
  const nested = { episode_id: episode, task_id: { taskset: 'fake', task_id: 'train-0' } }
  const input = { responses_create_params: { input: 'Question?' }, response: response('done') }

  test('takes the nested form, for the episode of the cookie', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    await agent.post('/add', { by: 3 })
    const other = { ...nested, episode_id: { rollout_id: 'rollout-9' }, verification_input: input }
    expect(await agent.post('/verify', other)).toMatchObject({ status: 409 })
    const verified = await agent.post('/verify', { ...nested, verification_input: input })
    expect(verified).toMatchObject({ status: 200, json: { ...input, reward: 1 } })
  })

  test('without the cookie is masked: a name of an episode opens nothing', async () => {
    const agent = new NemoClient(url)
    await agent.post('/seed_session', seedOf())
    const stranger = await new NemoClient(url).post('/verify', { ...nested, verification_input: input })
    expect(stranger.json).toMatchObject({ mask_sample: true, failure_kind: 'session_lost' })
    expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 200 })
  })
})
