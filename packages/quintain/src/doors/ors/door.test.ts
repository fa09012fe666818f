import { afterEach, describe, expect, test } from 'vitest'
import type { OpenDoor } from '../serve/door.ts'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { OrsClient } from './__fixtures__/ors-client.ts'
import { orsDoor } from './door.ts'

const doors: OpenDoor[] = []
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()))
})

async function serve(of: FakeOptions | SessionCore = {}): Promise<{ client: OrsClient; core: SessionCore }> {
  const core = 'create' in of ? of : fakeCore(of)
  const door = await orsDoor.open([core], { host: '127.0.0.1', port: 0, log: () => {} })
  doors.push(door)
  return { client: new OrsClient(door.addresses[0]!.url), core }
}

describe('listings', () => {
  test('by bare paths and under the name of the environment', async () => {
    const { client } = await serve()
    for (const base of ['', '/fake', '/FAKE', '/env']) {
      const get = async (path: string) => (await client.ask('GET', base + path)).json
      const post = async (path: string, body: unknown) => (await client.ask('POST', base + path, body)).json
      expect(await get('/splits')).toEqual([
        { name: 'train', type: 'train' },
        { name: 'test', type: 'test' },
      ])
      expect(await post('/num_tasks', { split: 'test' })).toEqual({ num_tasks: 3 })
      const first = { id: 'train-0', split: 'train', index: 0, level: 0 }
      expect(await post('/task', { split: 'train', index: 0 })).toEqual({ task: first, env_name: 'fake' })
      const { tasks, env_name } = await post('/tasks', { split: 'train' })
      expect(env_name).toBe('fake')
      expect(tasks).toHaveLength(3)
      expect(tasks[0]).toEqual(first)
    }
    expect((await client.ask('GET', '/health')).json).toEqual({ status: 'ok' })
    expect((await client.ask('GET', '/version')).json).toEqual({ version: '1.0.0', build_sha: null })
    expect((await client.ask('GET', '/list_environments')).json).toEqual(['fake'])
  })

  test('ranges are slices of Python', async () => {
    const { client } = await serve()
    const ids = async (range: object) => {
      const { json } = await client.ask('POST', '/task_range', { split: 'train', ...range })
      return json.tasks.map(({ index }: { index: number }) => index)
    }
    expect(await ids({})).toEqual([0, 1, 2])
    expect(await ids({ start: null, stop: null })).toEqual([0, 1, 2])
    expect(await ids({ start: 1 })).toEqual([1, 2])
    expect(await ids({ start: -2, stop: -1 })).toEqual([1])
    expect(await ids({ start: -9, stop: 9 })).toEqual([0, 1, 2])
    expect(await ids({ start: 2, stop: 1 })).toEqual([])
  })

  test('tools are listed without a session and open none', async () => {
    const { client, core } = await serve({ kind: 'tools' })
    const { json } = await client.ask('GET', '/tools')
    expect(json.tools.map(({ name }: { name: string }) => name)).toEqual(['add', 'read', 'submit_answer'])
    expect(Object.keys(json.tools[0])).toEqual(['name', 'description', 'input_schema'])
    expect(json.terminal_tool).toMatchObject({ name: 'submit_answer', arg: 'answer' })
    await client.ask('POST', '/delete_session', undefined, await client.name())
    expect(core.stats().created).toBe(0)
  })

  test('a message ends no episode in which the environment answers', async () => {
    const { client } = await serve({ kind: 'game' })
    expect((await client.ask('GET', '/tools')).json).toMatchObject({
      tools: [{ name: 'say' }],
      terminal_tool: null,
    })
  })
})

describe('an episode', () => {
  test('of one answer', async () => {
    const { client } = await serve()
    const sid = await client.session({ task_spec: { id: 'test-1', level: 1 }, env_name: 'fake' })
    const { json } = await client.ask('GET', '/prompt', undefined, sid)
    expect(json).toHaveLength(1)
    expect(json[0]).toMatchObject({ type: 'text', detail: null })
    expect(json[0].text).toMatch(/^You are tested\.\n\nQuestion test-1\?\n\n.*`submit_answer`/s)
    const { json: turns } = await client.ask('GET', '/messages', undefined, sid)
    expect(turns.map(({ role }: { role: string }) => role)).toEqual(['system', 'user'])
    const { json: tools } = await client.ask('GET', '/task_tools', undefined, sid)
    expect(tools.tools).toMatchObject([{ name: 'submit_answer' }])
    expect(await client.output(sid, 'submit_answer', { answer: 'right' })).toEqual({
      blocks: [],
      metadata: {
        outcome: 'completed',
        stop: null,
        success: true,
        rewards: { solved: 1 },
        metrics: { steps: 1 },
      },
      reward: 1,
      finished: true,
    })
    expect((await client.ask('POST', '/delete', undefined, sid)).json).toEqual({ sid })
    expect((await client.ask('POST', '/delete_session', undefined, sid)).json).toEqual({ sid })
  })

  test('of several turns gives one reward, on the call that ended it', async () => {
    const { client } = await serve({ kind: 'game' })
    const sid = await client.session()
    const rewards = []
    for (const message of ['a', 'b', 'right', 'more', 'right'])
      rewards.push(await client.output(sid, 'say', { message }))
    expect(rewards.map(({ reward }) => reward)).toEqual([null, null, 1, null, null])
    expect(rewards.map(({ finished }) => finished)).toEqual([false, false, true, true, true])
    expect(rewards[0]).toEqual({
      blocks: [{ type: 'text', text: 'Not a.', detail: null }],
      metadata: null,
      reward: null,
      finished: false,
    })
    expect(rewards[3]!.metadata).toEqual({ error: 'episode_over' })
  })

  test('with tools, under the name of the environment', async () => {
    const { client } = await serve({ kind: 'tools' })
    const sid = await client.session()
    const { json } = await client.ask(
      'POST',
      '/fake/call',
      { name: 'add', input: { by: 3, note: null } },
      sid,
    )
    expect(json).toContain('now 3')
    expect(await client.output(sid, 'submit_answer', { answer: 'done' })).toMatchObject({ reward: 1 })
  })

  test('a wrong call is a result that says what was wrong', async () => {
    const { client } = await serve({ kind: 'tools' })
    const sid = await client.session()
    expect(await client.output(sid, 'nothing')).toMatchObject({
      blocks: [{ text: 'There is no tool "nothing".' }],
      metadata: { error: 'unknown_tool' },
      reward: null,
      finished: false,
    })
    expect(await client.output(sid, 'add', { by: 'x' })).toMatchObject({ finished: false, reward: null })
  })

  test('without a number ends in the error of the protocol, whenever it is asked', async () => {
    const fault = {
      owner: 'grader',
      stage: 'grade',
      code: 'crashed',
      message: 'GOLD',
      retryable: false,
    } as const
    const failed = await serve({ settles: { kind: 'failed', fault } })
    const unscored = await serve({
      settles: { kind: 'unscored', reason: 'no_verdict', outcome: 'completed', metrics: {} },
    })
    for (const [{ client }, message] of [
      [failed, /grader\/crashed/],
      [unscored, /no_verdict/],
    ] as const) {
      const sid = await client.session()
      for (const answer of ['right', 'again']) {
        const events = await client.call(sid, 'submit_answer', { answer })
        expect(events.map(({ event }) => event)).toEqual(['task_id', 'error'])
        expect(events[1]!.data).toMatch(message)
        expect(events[1]!.data).not.toContain('GOLD')
      }
    }
  })
})

test('what is lost is said where there is something to lose', () => {
  const { environment } = fakeCore()
  const said = (of: typeof environment) =>
    orsDoor
      .losses(of)
      .map(({ says }) => says)
      .join('\n')
  const lost = said(environment)
  expect(lost).toMatch(/beside its tool calls/)
  expect(lost).toMatch(/counts as a turn/)
  expect(lost).not.toMatch(/images|Group|weighted sum/)
  const more = { ...environment, needs: ['images', 'groupRewards'] as const, rewards: { a: 1, b: 1 } }
  expect(said(more)).toMatch(/images[\s\S]*Group[\s\S]*weighted sum/)
})
