import { afterEach, describe, expect, test } from 'vitest'
import { environment, FaultError, type World } from '../core/index.ts'
import { packageOf } from './__fixtures__/package-of.ts'
import { modelThat, recorded } from './__fixtures__/recorded.ts'
import { readBatch } from './from-worker.ts'

function packaged(before: string, reply = ''): Promise<string> {
  return packageOf(`${before}
export default environment({
  tasks: [{ id: 'a', prompt: 'go' }, { id: 'b', prompt: 'go' }],
  needs: ['turns'],
  world: () => ({
    async reply() { ${reply}; await new Promise((resolve) => setTimeout(resolve, 5)); return { content: '', done: 'over' } },
    finish: () => ({}),
  }),
  rewards: { one: () => 1 },
  policies: { *speak() { yield 'hello' } },
})`)
}
const speak = { policy: 'script:speak' }

/** Whatever asks it anything is answered with an exception. */
const hostile = (): object =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('no')
      },
      has() {
        throw new Error('no')
      },
      getPrototypeOf() {
        throw new Error('no')
      },
      ownKeys() {
        throw new Error('no')
      },
    },
  )

const rude = [{ type: 'ready' }, null, 'text', [null], [{ t: 'done' }], [{ t: 'opened', description: null }]]

describe('an environment that talks on its own channel', () => {
  test('is heard by nobody, and the run is as it was', async () => {
    const say = rude.map((word) => `process.send(${JSON.stringify(word)})`).join(';')
    const run = await recorded(await packaged(say, say), speak, { workers: 1 })
    expect(run.states.map(({ status }) => status)).toEqual(['scored', 'scored'])
  })

  test('and one that gets round it sends nothing that ends the run', async () => {
    const send = `const send = Object.getPrototypeOf(process).send ?? ((word) => process.channel && process._send?.(word))`
    const say = `for (const word of ${JSON.stringify(rude)}) { try { send(word) } catch {} }`
    const run = await recorded(await packaged(`${send}; ${say}`, say), speak, { workers: 1 })
    expect(run.states.map(({ status }) => status)).toEqual(['scored', 'scored'])
  })

  test('only whole messages are read', () => {
    const refused: string[] = []
    for (const batch of rude) expect(readBatch(batch, (what) => refused.push(what))).toEqual([])
    expect(refused).toHaveLength(rude.length)
    const pong = { t: 'pong', n: 1 }
    expect(readBatch([null, pong, { t: 'constructor' }, { t: 'tasks', id: 1 }], () => {})).toEqual([pong])
  })
})

describe('faults of a world that hide from those who look', () => {
  const worldWith = (world: () => unknown) =>
    environment({
      tasks: [{ id: 'a', prompt: 'go' }],
      needs: ['turns'],
      limits: { tool: 500, grade: 2_000 },
      world: () => world() as World<unknown>,
      rewards: { one: () => 1 },
    })
  const withGetter = (name: string) => () =>
    Object.defineProperty({ finish: () => ({}) } as object, name, {
      get() {
        throw new Error('a getter')
      },
    })
  const cases: [string, () => unknown][] = [
    ...['open', 'reply', 'tools', 'endpoints', 'snapshot', 'finish'].map((name): [string, () => unknown] => [
      `a getter ${name} that throws`,
      withGetter(name),
    ]),
    ['endpoints of no text', () => ({ finish: () => ({}), endpoints: () => ({ API: 5 }) })],
    [
      'a thrown Proxy',
      () => ({
        finish: () => ({}),
        reply() {
          throw hostile()
        },
      }),
    ],
    ['a rejected Proxy', () => ({ finish: () => ({}), reply: async () => Promise.reject(hostile()) })],
    [
      'an error whose message is no text',
      () => ({
        finish: () => ({}),
        reply() {
          throw Object.assign(new Error('x'), { message: { toString: null } })
        },
      }),
    ],
    [
      'an error whose stack is a getter that throws',
      () => ({
        finish: () => ({}),
        reply() {
          throw Object.defineProperty(new Error('x'), 'stack', {
            get() {
              throw new Error('no')
            },
          })
        },
      }),
    ],
    [
      'a turn whose second reading throws',
      () => {
        let read = 0
        return {
          finish: () => ({}),
          reply: () => ({
            get content() {
              if (read++ > 1) throw new Error('again')
              return 5
            },
          }),
        }
      },
    ],
    [
      'a seat that every object has',
      () => ({ finish: () => ({}), reply: () => ({ content: '', next: 'constructor' }) }),
    ],
    [
      'first() that names no seat',
      () => ({ finish: () => ({}), reply: () => ({ content: '', next: '__proto__' }) }),
    ],
  ]
  test.each(cases)('%s is the fault of the world, whoever plays', async (_name, world) => {
    for (const player of [{ agent: () => 'hi' }, { model: modelThat(() => 'hi') }]) {
      const run = await recorded(worldWith(world), player, { maxTries: 1 })
      expect(run.attempts[0]).toMatchObject({ outcome: null, fault: { owner: 'world' } })
    }
  })

  test('a FaultError is taken at its word only when it is whole', async () => {
    const of = async (fault: object, owner = 'world') => {
      const env = environment({
        tasks: [{ id: 'a', prompt: 'go', secret: 'gold_answer' }],
        world: () => ({
          finish() {
            throw new FaultError(fault as never)
          },
        }),
        rewards: { one: () => 1 },
      })
      const run = await recorded(env, { agent: () => 'hi' }, { maxTries: 1 })
      expect(run.attempts[0]!.fault!.owner).toBe(owner)
      return run.attempts[0]!.fault!
    }
    const whole = { owner: 'sandbox', code: 'box_lost', message: 'gone: gold_answer', retryable: true }
    expect(await of(whole, 'sandbox')).toMatchObject({ code: 'box_lost', message: 'gone: [secret]' })
    expect((await of({ ...whole, code: 'gold_answer' }, 'sandbox')).code).toBe('withheld')
    for (const wrong of [
      { owner: 'nobody' },
      { code: 'Gold Answer!' },
      { code: 7 },
      { message: 5 },
      { retryable: 'yes' },
    ])
      expect((await of({ ...whole, ...wrong })).code).toBe('bad_fault')
  })
})

describe('what the agent itself throws is the agent’s', () => {
  const env = environment({ tasks: [{ id: 'a', prompt: 'go' }], rewards: { one: () => 1 } })
  test.each([
    ['an error', () => new Error('mine')],
    ['a Proxy', hostile],
    ['nothing', () => undefined],
  ])('%s', async (_name, made) => {
    const agent = () => {
      throw made()
    }
    const run = await recorded(env, { agent })
    expect(run.attempts[0]).toMatchObject({ outcome: 'agent_error', fault: null })
  })
})

describe('time that an environment puts in the place of the real one', () => {
  const { setTimeout: timeout, setImmediate: immediate, clearTimeout: clear } = globalThis
  const { now } = performance
  afterEach(() => {
    Object.assign(globalThis, { setTimeout: timeout, setImmediate: immediate, clearTimeout: clear })
    performance.now = now
  })

  test('keeps no deadline from coming', async () => {
    const env = environment({
      tasks: [{ id: 'a', prompt: 'go' }],
      needs: ['turns'],
      limits: { tool: 50 },
      world() {
        const nothing = () => ({ unref() {} })
        Object.assign(globalThis, { setTimeout: nothing, setImmediate: nothing, clearTimeout: nothing })
        performance.now = () => 0
        return { reply: () => new Promise<never>(() => {}), finish: () => ({}) }
      },
      rewards: { one: () => 1 },
    })
    const run = await recorded(env, { agent: () => 'hi' }, { maxTries: 1 })
    expect(run.attempts[0]!.fault).toMatchObject({ owner: 'world', stage: 'reply', code: 'timeout' })
  })
})

test('a weighted sum that overflows is a fault of the grader', async () => {
  const env = environment({
    tasks: [{ id: 'a', prompt: 'go' }],
    rewards: { huge: { weight: 10, reward: () => Number.MAX_VALUE } },
  })
  const run = await recorded(env, { agent: () => 'hi' }, { maxTries: 1 })
  expect(run.attempts[0]!.fault).toMatchObject({ owner: 'grader', code: 'reward_not_finite' })
})
