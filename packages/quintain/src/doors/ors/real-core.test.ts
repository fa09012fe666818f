import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { environment, FaultError, tool, unscored } from '../../core/index.ts'
import type { OpenDoor } from '../serve/door.ts'
import { type CoreOptions, openSessionCore, type SessionCore } from '../session/index.ts'
import { OrsClient } from './__fixtures__/ors-client.ts'
import { orsDoor } from './door.ts'

/** A counter to be brought to three; one task cannot be scored, one has a world that breaks. */
const counter = environment({
  system: 'Count.',
  tasks: ['plain', 'unscored', 'broken'].map((id) => ({
    id,
    split: 'train',
    prompt: 'Bring it to three.',
    data: { level: 1 },
    secret: { gold: 'THE-GOLD' },
  })),
  needs: ['tools'],
  limits: { turns: 4 },
  world: (task) => {
    let count = 0
    return {
      tools: () => [
        tool({
          name: 'add',
          description: 'Adds.',
          input: z.object({ by: z.number(), note: z.string().optional() }),
          run: ({ by, ...rest }) => {
            if (task.id === 'broken')
              throw new FaultError({
                owner: 'world',
                code: 'lost',
                message: task.secret.gold,
                retryable: false,
              })
            count += by
            return JSON.stringify({ count, ...rest })
          },
        }),
      ],
      finish: () => ({ count }),
    }
  },
  rewards: {
    three: ({ task, state }) => (task.id === 'unscored' ? unscored('no_verdict') : Number(state.count === 3)),
  },
  success: ({ rewards }) => rewards.three === 1,
})

const runs = mkdtempSync(join(tmpdir(), 'quintain-ors-'))
afterAll(() => rmSync(runs, { recursive: true, force: true }))
const opened: { door: OpenDoor; core: SessionCore }[] = []
afterEach(async () => {
  for (const { door, core } of opened.splice(0)) {
    await door.close()
    await core.close()
  }
})

let count = 0
async function serve(options: Partial<CoreOptions> = {}): Promise<OrsClient> {
  const core = await openSessionCore({ env: counter, dir: join(runs, `run-${++count}`), ...options })
  const door = await orsDoor.open([core], { host: '127.0.0.1', port: 0, log: () => {} })
  opened.push({ door, core })
  return new OrsClient(door.addresses[0]!.url)
}

const task = (id: string) => ({ task_spec: { id } })

test('nothing that is asked for without a session shows a secret', async () => {
  const client = await serve()
  const answers = [
    await client.ask('GET', '/tools'),
    await client.ask('GET', '/splits'),
    await client.ask('POST', '/tasks', { split: 'train' }),
    await client.ask('POST', '/task', { split: 'train', index: 1 }),
    await client.ask('POST', '/task_range', { split: 'train', start: -1 }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(JSON.stringify(answers)).not.toContain('GOLD')
  expect(answers[3]!.json.task).toEqual({ id: 'unscored', split: 'train', index: 1, level: 1 })
  expect(opened[0]!.core.stats().created).toBe(0)
})

test('a graded episode gives its parts with the reward', async () => {
  const client = await serve()
  const sid = await client.session(task('plain'))
  expect((await client.output(sid, 'add', { by: 3, note: null })).blocks[0]!.text).toBe('{"count":3}')
  expect(await client.output(sid, 'submit_answer', { answer: 'done' })).toMatchObject({
    reward: 1,
    finished: true,
    metadata: { outcome: 'completed', success: true, rewards: { three: 1 } },
  })
  expect(await client.output(sid, 'submit_answer', { answer: 'done' })).toMatchObject({
    reward: null,
    finished: true,
  })
})

test('the last call that the turn limit allows carries the reward', async () => {
  const client = await serve()
  const sid = await client.session(task('plain'))
  const outputs = []
  for (const by of [1, 1, 1, 0]) outputs.push(await client.output(sid, 'add', { by }))
  expect(outputs.map(({ reward, finished }) => [reward, finished])).toEqual([
    [null, false],
    [null, false],
    [null, false],
    [1, true],
  ])
  expect(outputs[3]!.metadata).toMatchObject({ outcome: 'turn_limit' })
})

test('what a model gets wrong is told to it, and the episode goes on', async () => {
  const client = await serve()
  const sid = await client.session(task('plain'))
  const unknown = await client.output(sid, 'subtract', {})
  expect(unknown).toMatchObject({ metadata: { error: 'unknown_tool' }, reward: null, finished: false })
  const invalid = await client.output(sid, 'add', { by: 'three' })
  expect(invalid).toMatchObject({ metadata: { error: 'arguments_invalid' }, reward: null, finished: false })
  expect((await client.output(sid, 'add', { by: 1 })).blocks[0]!.text).toBe('{"count":1}')
})

test('neither a fault nor an unscored verdict is a number, and neither tells a secret', async () => {
  const client = await serve()
  const broken = await client.session(task('broken'))
  const without = await client.session(task('unscored'))
  const ends = [
    await client.call(broken, 'add', { by: 1 }),
    await client.call(broken, 'add', { by: 1 }),
    await client.call(without, 'submit_answer', { answer: '' }),
    await client.call(without, 'submit_answer', { answer: '' }),
  ]
  expect(ends.map((events) => events.at(-1)!.event)).toEqual(['error', 'error', 'error', 'error'])
  expect(ends[2]!.at(-1)!.data).toContain('no_verdict')
  expect(JSON.stringify(ends)).not.toContain('GOLD')
})

test('a session that nobody asks for expires, and a sign of life keeps it', async () => {
  const client = await serve({ idleMs: 400 })
  const kept = await client.session(task('plain'))
  const left = await client.session(task('plain'))
  for (let i = 0; i < 8; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await client.ask('POST', '/ping', {}, kept)).status).toBe(200)
  }
  expect((await client.ask('POST', '/ping', {}, left)).status).toBe(410)
})

test('more sessions than there is room for are told so', async () => {
  const client = await serve({ maxSessions: 1 })
  const sid = await client.session(task('plain'))
  const next = await client.name()
  expect((await client.ask('POST', '/create', task('plain'), next)).status).toBe(429)
  await client.ask('POST', '/delete', {}, sid)
  expect((await client.ask('POST', '/create', task('plain'), next)).status).toBe(200)
})
