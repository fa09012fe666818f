import { afterEach, expect, test } from 'vitest'
import type { OpenDoor } from '../serve/door.ts'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { RawClient } from './__fixtures__/client.ts'
import { hudDoor } from './door.ts'

const doors: OpenDoor[] = []
const clients: RawClient[] = []
const logged: string[] = []

async function serve(...cores: SessionCore[]): Promise<OpenDoor> {
  const door = await hudDoor.open(cores, { host: '127.0.0.1', port: 0, log: (line) => logged.push(line) })
  doors.push(door)
  return door
}

async function client(door: OpenDoor, place = 0): Promise<RawClient> {
  const made = await RawClient.to(door, place)
  clients.push(made)
  return made
}

const right = { answer: 'right' }
const first = { id: 'train', args: { index: 0 } }

afterEach(async () => {
  for (const one of clients.splice(0)) one.socket.destroy()
  for (const door of doors.splice(0)) await door.close()
  logged.length = 0
})

test('hello, list, start, grade, bye', async () => {
  const core = fakeCore()
  const door = await serve(core)
  expect(door.addresses).toEqual([
    { environments: ['fake'], url: expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/), plane: 'control' },
  ])
  const one = await client(door)
  const { result } = await one.ask('hello')
  expect(result).toEqual({
    session_id: expect.stringMatching(/^sess-[\w-]{24}$/),
    env: { name: 'fake', version: '1.0.0' },
    bindings: [],
  })
  expect((await one.ask('hello', { session_id: result.session_id })).result).toEqual(result)
  const { tasks } = (await one.ask('tasks.list')).result
  expect(tasks.map(({ id }: { id: string }) => id)).toEqual(['train', 'test'])
  expect(tasks[0]).toMatchObject({
    description: expect.any(String),
    args: { type: 'object', additionalProperties: false },
  })
  expect((await one.ask('tasks.start', { id: 'test', args: { id: 'test-2' } })).result).toEqual({
    prompt: [
      { role: 'system', content: 'You are tested.' },
      { role: 'user', content: 'Question test-2?' },
    ],
  })
  expect((await one.ask('tasks.grade', right)).result).toEqual({
    score: 1,
    done: true,
    content: null,
    info: { success: true, outcome: 'completed', rewards: { solved: 1 }, metrics: { steps: 1 } },
    isError: false,
    subscores: [{ name: 'solved', weight: 1, value: 1 }],
  })
  expect((await one.ask('bye')).result).toEqual({ goodbye: true })
  await one.gone()
})

test('each environment has a port of its own', async () => {
  const door = await serve(fakeCore({ slug: 'a' }), fakeCore({ slug: 'b' }))
  const names = await Promise.all(
    [0, 1].map(async (place) => (await (await client(door, place)).ask('hello')).result.env.name),
  )
  expect(names).toEqual(['a', 'b'])
})

test('only loopback, and a port that is taken, are told as usage', async () => {
  const open = (host: string, port: number) =>
    hudDoor.open([fakeCore()], { host, port, token: 't', log: () => {} })
  await expect(open('0.0.0.0', 0)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('no token can help'),
  })
  const door = await serve(fakeCore())
  await expect(open('127.0.0.1', Number(door.addresses[0]!.url.split(':').at(-1)))).rejects.toMatchObject({
    code: 'usage',
  })
})

test('an episode without a number is an error and never a score', async () => {
  const fault = {
    owner: 'world',
    stage: 'tool',
    code: 'threw',
    message: 'it broke',
    retryable: true,
  } as const
  for (const settles of [
    { kind: 'failed', fault },
    { kind: 'unscored', reason: 'judge_silent', outcome: 'completed', metrics: {} },
  ] as const) {
    const one = await client(await serve(fakeCore({ settles })))
    await one.ask('tasks.start', first)
    const { result, error } = await one.ask('tasks.grade', right)
    expect(result).toBeUndefined()
    expect(error).toMatchObject({
      code: -32000,
      data: { reason: settles.kind === 'failed' ? 'fault:world:threw' : 'unscored:judge_silent' },
    })
  }
})

test('rewards that clients refuse as subscores stand in info', async () => {
  const settles = {
    kind: 'scored',
    reward: 2.5,
    success: null,
    rewards: { good: 0.5, bad: -1, far: 3, none: null },
    metrics: {},
    outcome: 'completed',
  } as const
  const one = await client(await serve(fakeCore({ settles })))
  await one.ask('tasks.start', first)
  const { result } = await one.ask('tasks.grade', right)
  expect(result.score).toBe(2.5)
  expect(result.subscores).toEqual([{ name: 'good', weight: 0, value: 0.5 }])
  expect(result.info.rewards).toEqual(settles.rewards)
})

test('a task is named by id or by index, and whatever else is said is refused with what is wrong', async () => {
  const one = await client(await serve(fakeCore()))
  expect((await one.ask('tasks.start', { id: 'train', args: { index: '2' } })).result.prompt[1].content).toBe(
    'Question train-2?',
  )
  for (const params of [
    {},
    { id: 3 },
    { id: 'none', args: { index: 0 } },
    { id: 'train' },
    { id: 'train', args: null },
    { id: 'train', args: [] },
    { id: 'train', args: { index: 0, id: 'train-0' } },
    { id: 'train', args: { index: -1 } },
    { id: 'train', args: { index: 3 } },
    { id: 'train', args: { index: 0.5 } },
    { id: 'train', args: { id: 'nowhere' } },
    { id: 'train', args: { id: 'test-0' } },
    { id: 'train', args: { id: 4 } },
    { id: 'train', args: { index: 0, seed: 1 } },
    { id: '__proto__', args: { index: 0 } },
  ])
    expect((await one.ask('tasks.start', params)).error, JSON.stringify(params)).toMatchObject({
      code: -32602,
    })
  // A start that was refused leaves the task as it was.
  expect((await one.ask('tasks.grade', right)).result.score).toBe(1)
})

test('answers of every kind are graded as text', async () => {
  const door = await serve(fakeCore())
  for (const [answer, score] of [
    ['right', 1],
    [null, 0],
    ['', 0],
    [{ right: 1 }, 0],
    [17, 0],
    [undefined, 0],
  ] as const) {
    const one = await client(door)
    await one.ask('tasks.start', first)
    expect((await one.ask('tasks.grade', { answer })).result.score, JSON.stringify(answer)).toBe(score)
  }
})

test('grades before a start, of nothing, and of a session that somebody else left', async () => {
  const core = fakeCore()
  const door = await serve(core)
  const one = await client(door)
  expect((await one.ask('tasks.grade', right)).error).toEqual({
    code: -32600,
    message: 'no task in progress',
  })
  await one.ask('tasks.start', first)
  // A task that somebody holds is nobody else's.
  const other = await client(door)
  expect((await other.ask('tasks.grade', right)).error).toMatchObject({ code: -32600 })
  await one.vanish()
  expect((await other.ask('tasks.grade', right)).result.score).toBe(1)
  // Asked again, it says the same; and nobody grades it a second time.
  expect((await other.ask('tasks.grade', { answer: 'wrong' })).result.score).toBe(1)
  const third = await client(door)
  expect((await third.ask('tasks.grade', right)).error).toMatchObject({ message: 'no task in progress' })
})

test('two sessions that were left are not guessed between, and none is named', async () => {
  const door = await serve(fakeCore())
  const ids = []
  for (const index of [0, 1]) {
    const one = await client(door)
    ids.push((await one.ask('hello')).result.session_id)
    await one.ask('tasks.start', { id: 'train', args: { index } })
    await one.vanish()
  }
  const one = await client(door)
  const { error } = await one.ask('tasks.grade', right)
  expect(error).toMatchObject({ code: -32600, message: expect.stringMatching(/^2 parked sessions/) })
  for (const id of ids) expect(error?.message).not.toContain(id)
  expect((await one.ask('hello', { session_id: ids[1] })).result.session_id).toBe(ids[1])
  expect((await one.ask('tasks.grade', right)).result.score).toBe(1)
})

test('a client comes back to its session, and to no other', async () => {
  const door = await serve(fakeCore())
  const one = await client(door)
  const { session_id: id } = (await one.ask('hello')).result
  await one.ask('tasks.start', first)
  const other = await client(door)
  expect((await other.ask('hello', { session_id: id })).error).toMatchObject({
    code: -32600,
    message: expect.stringContaining('live'),
  })
  await one.vanish()
  for (const wrong of ['sess-none', '', 'x'.repeat(100_000)])
    expect((await other.ask('hello', { session_id: wrong })).error).toMatchObject({ code: -32600 })
  for (const odd of [1, {}, true])
    expect((await other.ask('hello', { session_id: odd })).error).toMatchObject({ code: -32602 })
  expect((await other.ask('hello', { session_id: id })).result.session_id).toBe(id)
  expect((await other.ask('tasks.grade', right)).result.score).toBe(1)
})

test('a verdict that its client did not hear is told when it comes back', async () => {
  const door = await serve(fakeCore({ stepMs: 100 }))
  const one = await client(door)
  const { session_id: id } = (await one.ask('hello')).result
  await one.ask('tasks.start', first)
  one.send('tasks.grade', right)
  await new Promise((resolve) => setTimeout(resolve, 30))
  await one.vanish()
  const other = await client(door)
  await expect.poll(async () => (await other.ask('hello', { session_id: id })).result?.session_id).toBe(id)
  expect((await other.ask('tasks.grade', { answer: 'wrong' })).result.score).toBe(1)
})

test('a second start gives up the first, and a cancel the only one', async () => {
  const core = fakeCore()
  const one = await client(await serve(core))
  await one.ask('tasks.start', first)
  await one.ask('tasks.start', { id: 'train', args: { index: 1 } })
  expect(core.stats()).toMatchObject({ created: 2, open: 1 })
  expect((await one.ask('tasks.cancel')).result).toEqual({ cancelled: true })
  expect(core.stats().open).toBe(0)
  expect((await one.ask('tasks.grade', right)).error).toMatchObject({
    code: -32600,
    message: 'no task in progress',
  })
  expect((await one.ask('tasks.cancel')).result).toEqual({ cancelled: true })
})
