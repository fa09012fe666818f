import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import { openServed } from './__fixtures__/serve.ts'
import { type Frame, SocketClient } from './__fixtures__/socket-client.ts'

const key = '0123456789abcdef'.repeat(2)
const serve: (
  ...given: Parameters<typeof openServed> extends [unknown, ...infer Rest] ? Rest : never
) => ReturnType<typeof openServed> = (...given) => openServed(onTestFinished, ...given)

const taskOf = ({ data }: Frame) => (data.observation['metadata'] as { task_id: string }).task_id

describe('which task a reset begins', () => {
  test('the one that is named, by id or by place', async () => {
    const client = (await serve()).connect()
    expect(taskOf(await client.reset({ task_id: 'test-1' }))).toBe('test-1')
    expect(taskOf(await client.reset({ split: 'test', index: 2 }))).toBe('test-2')
    expect(taskOf(await client.reset({ index: 2 }))).toBe('train-2')
    expect(taskOf(await client.reset({ task_id: 'test-1', split: 'test', index: 1 }))).toBe('test-1')
  })

  test('a seed picks the same one each time', async () => {
    const client = (await serve()).connect()
    const first = taskOf(await client.reset({ seed: 12 }))
    expect(taskOf(await client.reset({ seed: 12 }))).toBe(first)
    expect(taskOf(await client.reset({ seed: 12, split: 'test' }))).toMatch(/^test-/)
    expect(taskOf(await client.reset({ seed: 'a name' }))).toMatch(/^train-/)
  })

  test('without any, each in its turn, whichever socket asks', async () => {
    const { connect } = await serve()
    const [one, other] = [connect(), connect()]
    expect(taskOf(await one.reset())).toBe('train-0')
    expect(taskOf(await other.reset({}))).toBe('train-1')
    expect(taskOf(await one.ask({ type: 'reset' }))).toBe('train-2')
    expect(taskOf(await one.reset({ split: 'test' }))).toBe('test-0')
    expect(taskOf(await other.reset({ seed: null, split: null, index: null }))).toBe('train-0')
  })

  test.each([
    [{ split: 'none' }, 'EXECUTION_ERROR'],
    [{ split: 'train', index: 3 }, 'EXECUTION_ERROR'],
    [{ task_id: 'none' }, 'EXECUTION_ERROR'],
    [{ task_id: 'test-1', index: 2 }, 'VALIDATION_ERROR'],
    [{ split: 'train', index: 0, seed: 7 }, 'EXECUTION_ERROR'],
    [{ index: -1 }, 'VALIDATION_ERROR'],
    [{ index: 1.5 }, 'VALIDATION_ERROR'],
    [{ index: '1' }, 'VALIDATION_ERROR'],
    [{ seed: -1 }, 'VALIDATION_ERROR'],
    [{ seed: {} }, 'VALIDATION_ERROR'],
    [{ seed: true }, 'VALIDATION_ERROR'],
    [{ split: 5 }, 'VALIDATION_ERROR'],
    [{ episode_id: 'x'.repeat(256) }, 'VALIDATION_ERROR'],
    [{ resume: 'yes', episode_id: 'a' }, 'VALIDATION_ERROR'],
    [{ resume: true }, 'VALIDATION_ERROR'],
    [{ resume: true, episode_id: 'never' }, 'VALIDATION_ERROR'],
    [{ resume_key: 'short' }, 'VALIDATION_ERROR'],
    [{ resume: true, resume_key: key }, 'SESSION_ERROR'],
    [[], 'VALIDATION_ERROR'],
    ['x', 'VALIDATION_ERROR'],
  ])('%j is refused with %s, and the socket goes on', async (data, code) => {
    const client = (await serve()).connect()
    expect((await client.ask({ type: 'reset', data })).data.code).toBe(code)
    expect((await client.reset()).type).toBe('observation')
  })

  test('the seed of the server is honoured beside a task', async () => {
    const client = (await serve()).connect()
    expect((await client.reset({ task_id: 'test-0', seed: 0 })).type).toBe('observation')
  })

  test('a reset that is refused leaves the episode as it was', async () => {
    const client = (await serve({ kind: 'game' })).connect()
    await client.reset()
    await client.reset({ task_id: 'none' })
    expect((await client.step({ message: 'right' })).data.reward).toBe(1)
  })

  test('names that mean nothing are told to the log, once, and columns of rows are not', async () => {
    const { connect, lines } = await serve()
    const client = connect()
    for (let turn = 0; turn < 3; turn++)
      await client.reset({ difficulty: 'hard', prompt: [], tags: null, id: 'x' })
    expect(lines).toEqual(['openenv: a reset names "difficulty", which means nothing here'])
    for (let turn = 0; turn < 300; turn++) await client.reset({ [`a${turn}\n`]: 1 })
    expect(lines).toHaveLength(100)
    expect(lines.join('')).not.toContain('\n')
  })
})

describe('what holds and loses an episode', () => {
  test('capacity: the reset is refused with the counts, and goes through when there is room', async () => {
    const { connect } = await serve({ kind: 'game', most: 1 })
    const [one, other] = [connect(), connect()]
    await one.reset()
    expect(await other.reset()).toMatchObject({
      type: 'error',
      data: { code: 'CAPACITY_REACHED', active_sessions: 1, max_sessions: 1 },
    })
    one.send({ type: 'close' })
    expect(await one.closed).toBe(1000)
    expect((await other.reset()).type).toBe('observation')
  })

  test('clients that leave finished episodes behind keep nobody out', async () => {
    const { connect } = await serve({ kind: 'game', most: 1 })
    for (let turn = 0; turn < 80; turn++) {
      const client = connect()
      expect((await client.reset()).type).toBe('observation')
      expect((await client.step({ type: 'finish' })).data.done).toBe(true)
      client.socket.terminate()
      await client.closed
    }
  })

  test('a server that drains says so', async () => {
    const core = fakeCore()
    const client = (await serve(core)).connect()
    await core.drain(0)
    expect((await client.reset()).data).toMatchObject({ code: 'SESSION_ERROR', reason: 'draining' })
  })

  test('a world that does not come is an error of the factory', async () => {
    const fault = { owner: 'sandbox', stage: 'open', code: 'no_box', message: '', retryable: true } as const
    const core = fakeCore()
    const { create } = core
    const { SessionError } = await import('../session/session-error.ts')
    core.create = async (request) => {
      const session = await create(request)
      session.opened = () => Promise.reject(new SessionError('infrastructure', 'no box', { fault }))
      return session
    }
    const client = (await serve(core)).connect()
    expect((await client.reset()).data).toMatchObject({ code: 'FACTORY_ERROR', fault: { code: 'no_box' } })
  })

  test('an episode whose socket is lost waits, and its client comes back to it', async () => {
    const { connect, core } = await serve({ kind: 'tools' })
    const lost = connect()
    await lost.reset({ episode_id: 'mine', resume_key: key })
    await lost.call('add', { by: 2 })
    lost.socket.terminate()
    await lost.closed
    const stranger = connect()
    expect((await stranger.reset({ episode_id: 'mine', resume: true })).data.code).toBe('VALIDATION_ERROR')
    const back = connect()
    const again = await untilFound(() => back.reset({ resume_key: key, resume: true }))
    expect(again.data.observation['metadata']).toMatchObject({
      resumed: true,
      step_count: 1,
      task_id: 'train-0',
    })
    expect((await back.call('read')).data.observation['result']).toMatchObject({ data: '2' })
    expect(core.stats().open).toBe(1)
    const third = connect()
    expect((await third.reset({ resume_key: key, resume: true })).data.code).toBe('SESSION_ERROR')
  })

  test('a step that was under way when the socket was lost is had by its name, reward and all', async () => {
    const { connect, url } = await serve({ kind: 'game', stepMs: 100 })
    const lost = connect()
    await lost.reset({ episode_id: 'mine', resume_key: key })
    const step = { message: 'right', metadata: { call_id: 'one' } }
    lost.send({ type: 'step', data: step })
    await new Promise((resolve) => setTimeout(resolve, 30))
    lost.socket.terminate()
    const back = new SocketClient(url)
    await untilFound(() => back.reset({ resume_key: key, resume: true }))
    expect((await back.step(step)).data).toMatchObject({ reward: 1, done: true })
    expect((await back.step({ message: 'right' })).data).toMatchObject({ reward: null, done: true })
    back.socket.terminate()
  })

  test('a reset of the same name without "resume" is another episode', async () => {
    const { connect } = await serve({ kind: 'tools' })
    const lost = connect()
    await lost.reset({ episode_id: 'mine', resume_key: key })
    await lost.call('add', { by: 2 })
    lost.socket.terminate()
    const back = connect()
    await back.reset({ episode_id: 'mine' })
    expect((await back.call('read')).data.observation['result']).toMatchObject({ data: '0' })
  })

  test('nobody waits for longer than the grace, and not at all where there is no room', async () => {
    const { connect, core } = await serve({ kind: 'game', most: 1 }, { graceMs: 100 })
    const lost = connect()
    await lost.reset({ episode_id: 'mine', resume_key: key })
    lost.socket.terminate()
    const next = connect()
    await untilFound(() => next.reset())
    next.socket.terminate()
    await until(() => core.stats().open === 0)
    const late = connect()
    expect((await late.reset({ resume_key: key, resume: true })).data.code).toBe('SESSION_ERROR')
  })

  test('a session is taken up by the id that its state tells', async () => {
    const { connect } = await serve({ kind: 'tools' })
    const one = connect()
    await one.reset({ episode_id: 'e', task_id: 'test-1' })
    const { data: state } = await one.ask({ type: 'state' })
    expect(state).toMatchObject({
      episode_id: 'e',
      step_count: 0,
      task_id: 'test-1',
      split: 'test',
      index: 1,
      done: false,
    })
    const path = `/ws?session_id=${String(state['session_id'])}`
    const twice = connect(path)
    expect((await twice.next()).data).toMatchObject({ code: 'SESSION_ERROR' })
    expect(await twice.closed).toBe(1000)
    one.socket.terminate()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await connect(path).call('read')).data.observation['result']).toMatchObject({ data: '0' })
    expect((await connect('/ws?session_id=none').next()).data.code).toBe('SESSION_ERROR')
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** The server hears of a lost socket a moment later. */
async function untilFound(ask: () => Promise<Frame>): Promise<Frame> {
  for (;;) {
    const frame = await ask()
    if (frame.type !== 'error') return frame
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
