import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Environment, environment, foldRun, type Task, tool } from '../../core/index.ts'
import type { Session, SessionCore } from './index.ts'
import { type CoreOptions, openSessionCore, SessionError } from './index.ts'

let root: string
const cores: SessionCore[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quintain-sessions-'))
})
afterEach(async () => {
  await Promise.all(cores.splice(0).map((core) => core.close()))
  rmSync(root, { recursive: true, force: true })
})

const dir = () => join(root, 'run')

async function open(env: string | object, options: Partial<CoreOptions> = {}): Promise<SessionCore> {
  const core = await openSessionCore({ env: env as Environment, dir: dir(), ...options })
  cores.push(core)
  return core
}

/** Closes the core and reads what it recorded. */
async function recorded(core: SessionCore) {
  cores.splice(cores.indexOf(core), 1)
  await core.close()
  return foldRun(dir())
}

const codeOf = (given: Promise<unknown>) =>
  given.then(
    () => 'no error',
    (thrown: unknown) => (thrown instanceof SessionError ? thrown.code : String(thrown)),
  )

interface Secret {
  answer: string
}
const tasks = ['train', 'train', 'train', 'val', 'test'].map((split, n) => ({
  id: `${split}-${n}`,
  split,
  prompt: `What is ${n} + ${n}?`,
  data: { n },
  secret: { answer: `CANARY-${2 * n}` },
}))

/** One question, one answer. */
const question = environment({
  tasks,
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.exact === 1,
})

const counted: string[] = []
/** A counter that is brought to three by tools; `ends` ends the episode by a tool. */
const counter = environment({
  system: 'Count.',
  tasks,
  limits: { turns: 4, tool: '300ms' },
  world: () => {
    let count = 0
    return {
      tools: () => [
        tool({
          name: 'add',
          description: 'Adds.',
          input: z.object({
            by: z.number(),
            note: z.string().optional(),
            way: z.string().nullable().optional(),
          }),
          run: ({ by, note, way }) => {
            counted.push(`${by}`)
            count += by
            return `${count} ${note === undefined} ${way === undefined}`
          },
        }),
        tool({
          name: 'add-all',
          description: 'Ends.',
          input: z.object({}),
          run: () => ({ content: 'ended', done: 'ended' }),
        }),
        tool({
          name: 'break',
          description: 'Breaks.',
          input: z.object({ how: z.string() }),
          run: async ({ how }) => {
            if (how === 'hang') await new Promise(() => {})
            throw new Error('CANARY of the world')
          },
        }),
      ],
      finish: () => ({ count }),
    }
  },
  rewards: { three: ({ state }) => Number(state.count === 3) },
})

/** Guess a letter; the environment answers. */
const guess = environment({
  tasks,
  world: () => {
    const said: string[] = []
    return {
      open: () => 'Guess a letter.',
      reply: (message) => {
        said.push(String(message))
        return message === 'x' ? { content: 'yes', done: 'won' } : { content: `no, not ${message}` }
      },
      finish: () => said,
    }
  },
  rewards: { won: ({ transcript, state }) => (transcript.stop === 'won' ? 1 / state.length : 0) },
})

test('lists splits and the public part of tasks', async () => {
  const core = await open(question)
  expect(core.splits).toEqual([
    { name: 'train', type: 'train', tasks: 3 },
    { name: 'val', type: 'validation', tasks: 1 },
    { name: 'test', type: 'test', tasks: 1 },
  ])
  const listed = await core.tasks('train', 1, 10)
  expect(listed.map(({ id, index }) => [id, index])).toEqual([
    ['train-1', 1],
    ['train-2', 2],
  ])
  expect(listed[0]!.task).toMatchObject({ prompt: 'What is 1 + 1?', data: { n: 1 } })
  expect(JSON.stringify([listed, core.environment, await core.task({ id: 'test-4' })])).not.toContain(
    'CANARY',
  )
  expect(await codeOf(core.tasks('trian', 0, 1))).toBe('unknown_split')
  expect(await codeOf(core.task({ split: 'train', index: 3 }))).toBe('unknown_task')
  expect(await codeOf(core.task({ split: 'train', index: 0.5 }))).toBe('unknown_task')
  expect(await codeOf(core.task({ id: 'nobody' }))).toBe('unknown_task')
})

test('an answer ends the episode where the environment does not answer', async () => {
  const core = await open(question)
  const session = await core.create({ task: { id: 'train-1' } })
  expect(await session.opened()).toEqual({
    messages: [{ role: 'user', content: 'What is 1 + 1?' }],
    tools: [],
    answerTool: undefined,
    replies: false,
  })
  expect(await session.act({ content: 'CANARY-2' })).toEqual({ content: '', done: 'completed' })
  expect(await session.settled()).toMatchObject({
    kind: 'scored',
    reward: 1,
    success: true,
    outcome: 'completed',
  })
  expect(await session.grade()).toEqual(session.verdict)
  expect(session.state).toBe('settled')
  const { states, issues } = await recorded(core)
  expect(issues).toEqual([])
  expect(states.map(({ status, order }) => [order.id, status])).toEqual([['train-1#0', 'scored']])
  expect(states[0]!.chosen).toMatchObject({ counts: { turns: 1 }, verdict: { reward: 1 } })
})

test('an environment that answers goes on until it ends the episode', async () => {
  const core = await open(guess)
  const session = await core.create({ task: { id: 'train-0' }, answerTool: true })
  const opening = await session.opened()
  expect(opening.answerTool).toBe('say')
  expect(opening.messages.at(-1)).toEqual({ role: 'user', content: 'Guess a letter.' })
  expect(await session.call({ name: 'say', arguments: { message: 'a' } })).toEqual({ content: 'no, not a' })
  expect(await session.act({ content: 'x' })).toEqual({ content: 'yes', done: 'won' })
  expect(await session.settled()).toMatchObject({ reward: 0.5, outcome: 'env_done', stop: 'won' })
  expect(await codeOf(session.act({ content: 'x' }))).toBe('episode_over')
  const other = await core.create({ task: { id: 'train-0' } })
  expect(await other.grade({ answer: 'x' })).toMatchObject({ reward: 1, stop: 'won' })
})

describe('the lifecycle of an episode that has a name', () => {
  test('the same name and task give the same session; another task is a conflict', async () => {
    const core = await open(question)
    const create = (id: string) => core.create({ key: 'e1', task: { id } })
    const [first, again] = await Promise.all([create('train-0'), create('train-0')])
    expect(again).toBe(first)
    expect(await codeOf(create('train-1'))).toBe('session_conflict')
    await first.close()
    await first.close()
    expect(await codeOf(create('train-0'))).toBe('session_gone')
    expect(await codeOf(first.grade())).toBe('session_gone')
    expect(await codeOf(first.act({ content: 'late' }))).toBe('session_gone')
    expect(await codeOf((async () => core.session(first.handle))())).toBe('session_gone')
    expect(await codeOf((async () => core.session('never'))())).toBe('session_unknown')
    const { states } = await recorded(core)
    expect(states.map(({ chosen }) => chosen?.fault)).toMatchObject([
      { code: 'session_closed', stage: 'client', message: expect.stringContaining('the client closed') },
    ])
  })

  test('a call that is repeated is carried out once, and one of its name that differs not at all', async () => {
    counted.length = 0
    const core = await open(counter)
    const session = await core.create({ task: { id: 'train-0' } })
    const add = (by: number) => session.call({ id: 'c1', name: 'add', arguments: { by } })
    const [one, two] = await Promise.all([add(3), add(3)])
    expect(two).toEqual(one)
    expect(await codeOf(add(4))).toBe('call_conflict')
    const noted = { by: 3, note: 'x' }
    const again = { note: 'x', by: 3 }
    const named = (given: object) => session.call({ id: 'c2', name: 'none', arguments: given })
    expect(await named(again)).toEqual(await named(noted))
    expect(counted).toEqual(['3'])
    await session.grade()
    expect(await add(3)).toEqual(one)
    expect(session.verdict).toMatchObject({ reward: 1 })
  })

  test('calls are carried out in the order in which they came, and so many wait', async () => {
    counted.length = 0
    const core = await open(counter, { limits: { turns: 1_000 } })
    const session = await core.create({ task: { id: 'train-0' } })
    const codes = await Promise.all(
      Array.from({ length: 70 }, (_, by) => codeOf(session.call({ name: 'add', arguments: { by } }))),
    )
    expect(codes.filter((code) => code === 'busy')).toHaveLength(6)
    expect(counted).toEqual(Array.from({ length: 64 }, (_, by) => `${by}`))
  })
})

test('no more sessions than there may be; room comes back when one ends', async () => {
  const core = await open(question, { maxSessions: 2 })
  const create = () => core.create({ task: { id: 'train-0' } })
  const [first] = await Promise.all([create(), create()])
  expect(await codeOf(create())).toBe('at_capacity')
  await first!.grade({ answer: 'no' })
  expect(await codeOf(create())).toBe('no error')
  const drained = core.drain(10_000)
  expect(await codeOf(create())).toBe('draining')
  expect(core.stats()).toMatchObject({ open: 2, most: 2, draining: true, created: 3, scored: 1 })
  expect(core.stats().refused).toEqual({ at_capacity: 1, draining: 1 })
  for (const { order } of (await foldRun(dir())).states) expect(order.task).toBe('train-0')
  await core.close()
  await drained
})

test('whoever closes a session has its place, however long its world takes to close', async () => {
  const slow = environment({
    tasks,
    world: () => ({
      finish: () => ({}),
      close: () => new Promise<void>((resolve) => setTimeout(resolve, 50)),
    }),
    rewards: { none: () => 0 },
  })
  const core = await open(slow, { maxSessions: 1 })
  const create = () => core.create({ task: { id: 'train-0' } })
  for (let round = 0; round < 3; round++) {
    const session = await create()
    await session.opened()
    await session.close()
  }
  // Of two there is room for one.
  expect((await Promise.all([codeOf(create()), codeOf(create())])).sort()).toEqual([
    'at_capacity',
    'no error',
  ])
})

test('sessions that begin and end together are all in the plan and in the record', async () => {
  const core = await open(question)
  const sessions = await Promise.all(
    Array.from({ length: 200 }, () => core.create({ task: { id: 'train-1' } })),
  )
  const verdicts = await Promise.all(sessions.map((session) => session.grade({ answer: 'CANARY-2' })))
  expect(verdicts.every((verdict) => verdict.kind === 'scored' && verdict.reward === 1)).toBe(true)
  const { states, issues } = await recorded(core)
  expect(issues).toEqual([])
  expect(states.map(({ order, status }) => [order.repeat, status])).toEqual(
    Array.from({ length: 200 }, (_, repeat) => [repeat, 'scored']),
  )
})

test('a session that nobody asks for expires, as a fault and not as a score', async () => {
  const core = await open(question, { idleMs: 200 })
  const session = await core.create({ task: { id: 'train-0' } })
  await session.opened()
  await expect.poll(() => session.state, { timeout: 5_000 }).toBe('closed')
  expect(await session.settled()).toMatchObject({
    kind: 'failed',
    fault: { code: 'session_expired', stage: 'client' },
  })
  const { states } = await recorded(core)
  expect(states.map(({ status }) => status)).toEqual(['faulted'])
})

test('seeds: the server own, one that picks a task, and others', async () => {
  const core = await open(question, { seed: 7 })
  const create = (task: Parameters<SessionCore['create']>[0]['task'], seed?: unknown) =>
    core.create({ task, seed })
  expect(await codeOf(create({ id: 'train-0' }, 7))).toBe('no error')
  expect(await codeOf(create({ id: 'train-0' }, null))).toBe('no error')
  expect(await codeOf(create({ id: 'train-0' }, 8))).toBe('seed_refused')
  const picked = new Set<string>()
  for (let seed = 0; seed < 40; seed++) {
    const [one, two] = [await create({ seed: `${seed}` }), await create({ seed: `${seed}` })]
    expect(two.task.id).toBe(one.task.id)
    expect(one.task.split).toBe('train')
    picked.add(one.task.id)
  }
  expect(picked.size).toBe(3)
})

describe('tools', () => {
  test('under names that Python takes, with nulls for what is left out', async () => {
    const core = await open(counter)
    const session = await core.create({
      task: { id: 'train-0' },
      answerTool: true,
      reserved: new Set(['break']),
    })
    const { tools, answerTool } = await session.opened()
    expect(tools.map(({ name }) => name)).toEqual(['add', 'add_all', 'break_2', 'submit_answer'])
    expect(answerTool).toBe('submit_answer')
    const sent = { by: 3, note: null, way: null }
    expect(await session.call({ name: 'add', arguments: sent })).toEqual({ content: '3 true false' })
    expect(await session.call({ name: 'add', arguments: JSON.stringify({ by: 0 }) })).toEqual({
      content: '3 true true',
    })
    expect(await session.call({ name: 'add_all', arguments: null })).toEqual({
      content: 'ended',
      done: 'ended',
    })
    expect(await session.settled()).toMatchObject({ reward: 1, stop: 'ended' })
  })

  test('what the agent gets wrong is a step that says so', async () => {
    const core = await open(counter)
    const session = await core.create({ task: { id: 'train-0' } })
    expect(await session.call({ name: 'ad', arguments: {} })).toEqual({
      content: 'There is no tool "ad", did you mean "add"? Tools: add, add_all, break_2.',
      error: 'unknown_tool',
    })
    expect(await session.call({ name: 'add', arguments: { by: 'x' } })).toMatchObject({
      error: 'arguments_invalid',
    })
    expect(await session.call({ name: 'add', arguments: '{ torn' })).toMatchObject({
      error: expect.any(String),
    })
    expect(session.state).toBe('open')
  })

  test('the answer tool ends the episode, and wants its argument', async () => {
    const core = await open(question)
    const session = await core.create({ task: { id: 'train-2' }, answerTool: true })
    expect(await session.call({ name: 'submit_answer', arguments: {} })).toMatchObject({
      error: 'invalid_arguments',
    })
    expect(await session.call({ name: 'submit_answer', arguments: { answer: 'CANARY-4' } })).toMatchObject({
      done: 'completed',
    })
    expect(await session.settled()).toMatchObject({ reward: 1 })
  })

  test('a turn is a call, or the calls of one reply', async () => {
    const core = await open(counter)
    const add = (session: Session, batch?: string) =>
      session.call({ name: 'add', arguments: { by: 1 }, ...(batch === undefined ? {} : { batch }) })
    const single = await core.create({ task: { id: 'train-0' } })
    for (let n = 0; n < 3; n++) expect((await add(single)).done).toBeUndefined()
    expect(await add(single)).toMatchObject({ content: expect.stringMatching(/^4/), done: 'turn_limit' })
    const batched = await core.create({ task: { id: 'train-0' } })
    for (const batch of ['a', 'a', 'b', 'c', 'd', 'd', 'd'])
      expect((await add(batched, batch)).done).toBeUndefined()
    expect(await add(batched, 'e')).toMatchObject({ done: 'turn_limit' })
    expect(await batched.settled()).toMatchObject({ kind: 'scored', reward: 0, outcome: 'turn_limit' })
  })

  test('what stands beside a call is in the transcript', async () => {
    const seen: string[] = []
    const env = environment({
      tasks,
      world: () => ({
        tools: () => [tool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'seen' })],
        finish: () => null,
      }),
      rewards: {
        any: ({ transcript }) => {
          for (const { role, content } of transcript.messages) seen.push(`${role} ${content}`)
          return 1
        },
      },
    })
    const core = await open(env)
    const session = await core.create({ task: { id: 'train-0' } })
    await session.call({ name: 'look', arguments: {}, text: 'I look.' })
    await session.grade({ answer: 'Done.' })
    expect(seen).toEqual(['user What is 0 + 0?', 'assistant I look.', 'tool seen', 'assistant Done.'])
  })
})

describe('what fails is never a number', () => {
  test.each(['throw', 'hang'])('a world whose tool does: %s', async (how) => {
    const core = await open(counter)
    const session = await core.create({ task: { id: 'train-0' } })
    const step = session.call({ name: 'break', arguments: { how } })
    expect(await codeOf(step)).toBe('infrastructure')
    expect(String(await step.catch((error: unknown) => error))).not.toContain('CANARY')
    const settled = await session.settled()
    expect(settled).toMatchObject({ kind: 'failed', fault: { owner: 'world' } })
    expect(JSON.stringify(settled)).not.toContain('reward')
    expect(await codeOf(session.call({ name: 'add', arguments: { by: 1 } }))).toBe('infrastructure')
    expect(core.stats()).toMatchObject({ open: 0, scored: 0 })
  })

  test('a world that does not open', async () => {
    const env = environment({
      tasks,
      needs: ['turns'],
      world: (task: Task<{ n: number }, Secret>) => {
        throw new Error(`no world for ${task.secret.answer}`)
      },
      rewards: { never: () => 1 },
    })
    const core = await open(env)
    const session = await core.create({ task: { id: 'train-0' } })
    const thrown = await session.opened().catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'infrastructure' })
    expect(String(thrown)).not.toContain('CANARY')
    expect(await session.grade({ answer: 'x' })).toMatchObject({ kind: 'failed' })
  })

  test('a reward that throws', async () => {
    const env = environment({
      tasks,
      rewards: {
        broken: () => {
          throw new Error('broken')
        },
      },
    })
    const core = await open(env)
    const session = await core.create({ task: { id: 'train-0' } })
    expect(await session.grade({ answer: 'x' })).toMatchObject({ kind: 'failed', fault: { owner: 'grader' } })
  })
})

test('the clock of an agent stands still between steps', async () => {
  const core = await open(guess, { limits: { wall: '300ms' } })
  const session = await core.create({ task: { id: 'train-0' } })
  await session.opened()
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    await session.act({ content: 'a' })
  }
  expect(await session.grade({ answer: 'x' })).toMatchObject({ stop: 'won' })
})

test('rewards of a group are left out of what a session earns', async () => {
  const env = environment({
    tasks,
    rewards: { own: { weight: 2, reward: () => 0.25 } },
    groupRewards: { best: { reward: ({ members }) => Object.fromEntries(members.map(({ id }) => [id, 1])) } },
  })
  const core = await open(env)
  expect(core.environment).toMatchObject({ needs: ['groupRewards'], rewards: { own: 2 } })
  const session = await core.create({ task: { id: 'train-0' } })
  expect(await session.grade({ answer: 'x' })).toMatchObject({ kind: 'scored', reward: 0.5 })
})

test('a look at a task leaves nothing behind', async () => {
  const core = await open(counter)
  const opening = await core.preview({ id: 'test-4' }, { answerTool: true })
  expect(opening.messages[0]).toEqual({ role: 'system', content: 'Count.' })
  expect(opening.tools.map(({ name }) => name)).toContain('submit_answer')
  expect(core.stats()).toMatchObject({ open: 0, created: 0 })
  expect((await recorded(core)).states).toEqual([])
})

test('environments in workers: sessions of a worker that dies are faults, the others go on', async () => {
  const orders = join(import.meta.dirname, '../../../../../environments/orders')
  const core = await open(orders, { workers: 1, tasks: 30 })
  const session = await core.create({ task: { split: 'test', index: 0 }, answerTool: true })
  const { messages, tools } = await session.opened()
  // The customer speaks first.
  expect(messages.at(-1)?.role).toBe('user')
  expect(tools.map(({ name }) => name)).toContain('verify_identity')
  // Whoever serves all of them goes before what one of them computes.
  if (process.platform !== 'win32') expect(getPriority(workerPid())).toBe(getPriority() + 10)
  const before = await session.call({ name: 'say', arguments: { message: 'What is your e-mail address?' } })
  expect(before.content).not.toBe('')
  process.kill(workerPid(), 'SIGKILL')
  expect(await codeOf(session.call({ name: 'say', arguments: { message: 'Hello?' } }))).toBe('infrastructure')
  expect(await session.settled()).toMatchObject({ kind: 'failed' })
  const next = await core.create({ task: { split: 'test', index: 1 } })
  expect((await next.opened()).messages.length).toBeGreaterThan(0)
  const { states } = await recorded(core)
  expect(states.map(({ chosen }) => chosen?.fault?.code)).toEqual(['worker_lost', 'server_closed'])
})

/** The worker process that this test started. */
function workerPid(): number {
  const own = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
  const worker = own.split('\n').find((line) => line.includes('worker-main'))
  return Number.parseInt(worker!, 10)
}
