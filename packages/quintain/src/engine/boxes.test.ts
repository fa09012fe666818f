import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { environment, type GradingSandbox, QuintainError, type Sandbox, tool } from '../core/index.ts'
import { FakeBoxes } from './__fixtures__/fake-boxes.ts'
import { packageOf } from './__fixtures__/package-of.ts'
import { filesOf, pause, recorded } from './__fixtures__/recorded.ts'
import { readArtefacts } from './artefact-store.ts'
import { artefactFiles } from './artefacts.ts'
import { BoxDesk } from './box-desk.ts'
import { BoxSlots } from './box-slots.ts'

const speak = { policy: 'script:speak' }

/** An environment whose world opens boxes and whose reward looks into a fresh one. */
function boxed({
  world = async (sandbox: Sandbox): Promise<unknown> => sandbox.start(),
  reward = async (_sandbox: GradingSandbox): Promise<number> => 1,
  tasks = 1,
  ...rest
}: {
  world?: (sandbox: Sandbox) => Promise<unknown>
  reward?: (sandbox: GradingSandbox) => Promise<number>
  tasks?: number
  sandbox?: object
  limits?: object
}) {
  return environment({
    tasks: Array.from({ length: tasks }, (_, at) => ({
      id: `t${at}`,
      prompt: 'go',
      secret: { gold: 'canary-gold' },
    })),
    needs: ['turns'],
    sandbox: {},
    ...rest,
    async world(_task, { sandbox }) {
      await world(sandbox)
      return { reply: () => ({ content: 'ok', done: 'over' }), finish: () => null }
    },
    rewards: { solved: ({ sandbox }) => reward(sandbox) },
    policies: {
      *speak() {
        yield 'hello'
      },
    },
  })
}

/** A package whose environment is this text, for workers. */
function packaged(body: string): Promise<string> {
  return packageOf(`const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export default environment(${body})`)
}

describe('an environment that declares boxes', () => {
  test('gets a driver, is swept for, and leaves nothing open', async () => {
    const driver = new FakeBoxes()
    const run = await recorded(boxed({ tasks: 20 }), speak, { sandbox: driver })
    expect(run.states.map(({ status }) => status)).toEqual(Array(20).fill('scored'))
    expect([driver.open, driver.sweeps, driver.started.length]).toEqual([0, 1, 20])
    // A driver that was passed belongs to whoever passed it.
    expect(driver.closed).toBe(0)
    expect(run.end.manifest.sandbox).toEqual({ driver: 'fake', isolation: 'namespaces' })
  })

  test('is refused where nothing starts boxes, and by a driver that it does not run in', async () => {
    const refused = (options: object) =>
      recorded(boxed({ sandbox: { drivers: ['bwrap'] } }), speak, options).catch((error: unknown) => error)
    for (const options of [{}, { sandbox: new FakeBoxes() }]) {
      const error = await refused(options)
      expect(QuintainError.isInstance(error) && error.code).toBe('needs_unmet')
    }
  })

  test('opens its driver by name, and closes it with the run', async () => {
    const driver = new FakeBoxes()
    const wishes: object[] = []
    await recorded(boxed({}), speak, {
      sandbox: 'fake',
      openSandbox: async (wish) => {
        wishes.push(wish)
        return driver
      },
    })
    expect([wishes, driver.closed]).toEqual([[{ name: 'fake' }], 1])
  })

  test('has its world wait for room, with no deadline running', async () => {
    const driver = new FakeBoxes()
    const slow = boxed({
      tasks: 4,
      limits: { tool: '150ms', wall: '1s' },
      world: async (sandbox) => {
        await sandbox.start()
      },
      reward: async (sandbox) => {
        await sandbox.start()
        await pause(100)
        return 1
      },
    })
    const run = await recorded(slow, speak, { sandbox: driver, boxes: 1 })
    expect(run.states.map(({ chosen }) => chosen?.fault ?? null)).toEqual([null, null, null, null])
    expect([driver.mostOpen, driver.open]).toEqual([1, 0])
  })

  test('has no agent pay for waiting', async () => {
    const driver = new FakeBoxes()
    const env = environment({
      tasks: [{ id: 'a' }, { id: 'b' }],
      needs: ['tools'],
      sandbox: {},
      limits: { wall: '400ms' },
      world: (_task, { sandbox }) => ({
        tools: () => [
          tool({
            name: 'hold',
            description: 'Opens a box and keeps it for a while.',
            input: z.object({}),
            async run() {
              await sandbox.start()
              await pause(250)
              return 'held'
            },
          }),
        ],
        finish: () => null,
      }),
      rewards: { any: () => 1 },
      policies: {
        *hold() {
          yield { tool: 'hold' }
        },
      },
    })
    const run = await recorded(env, { policy: 'script:hold' }, { sandbox: driver, boxes: 1 })
    expect(run.states.map(({ chosen }) => chosen?.outcome)).toEqual(['completed', 'completed'])
    for (const { chosen } of run.attempts.map((attempt) => ({ chosen: attempt })))
      expect(chosen.timing.agentMs).toBeLessThan(400)
  })

  test('may not have more open than it declared, and a box that does not come up is no score', async () => {
    const greedy = await recorded(
      boxed({
        world: async (sandbox) => {
          await sandbox.start()
          await sandbox.start()
        },
      }),
      speak,
      { sandbox: new FakeBoxes() },
    )
    expect(greedy.only.fault).toMatchObject({ owner: 'world', stage: 'open', code: 'too_many_boxes' })

    const flaky = new FakeBoxes({ failStarts: 1 })
    const again = await recorded(boxed({}), speak, { sandbox: flaky })
    expect(again.attempts.map(({ fault }) => fault?.owner)).toEqual(['sandbox', undefined])
    expect(again.attempts[0]!.fault).toMatchObject({ code: 'sandbox_start_failed', retryable: true })

    const dead = await recorded(boxed({}), speak, { sandbox: new FakeBoxes({ failStarts: 9 }) })
    expect([dead.states[0]!.status, dead.attempts.length]).toEqual(['faulted', 3])
  })

  test('gives graders what was declared, after the boxes of the world are gone', async () => {
    const driver = new FakeBoxes({ run: (command, _options, files) => String(files.get(command)) })
    let openAtGrading = -1
    let seen: unknown
    const env = boxed({
      sandbox: { artefacts: ['/box/out'] },
      world: async (sandbox) => {
        const box = await sandbox.start({ files: { 'in.txt': 'x' } })
        await box.write('out/a', 'made')
        await box.write('elsewhere', 'not declared')
      },
      reward: async (sandbox) => {
        openAtGrading = driver.open
        const box = await sandbox.start({ readOnlyFiles: { '/tests/t': 'hidden' } })
        const read = async (path: string) => (await box.exec(path)).stdout
        seen = [await read('/box/out/a'), await read('/box/elsewhere'), await read('/tests/t')]
        return sandbox.artefacts?.entries.length ?? 0
      },
    })
    const run = await recorded(env, speak, { sandbox: driver })
    expect([openAtGrading, seen]).toEqual([0, ['made', 'undefined', 'hidden']])
    expect(run.only.verdict?.reward).toBe(1)
    const evidence = (await run.hidden())?.evidence
    expect(evidence).toMatchObject({ artefacts: { entries: [{ path: '/box/out/a' }] } })
    const { digest } = evidence!['artefacts'] as { digest: string }
    const file = join(run.dir, 'private', 'artefacts', `${digest}.jsonl.gz`)
    expect((await readArtefacts(await readFile(file))).entries).toMatchObject([{ path: '/box/out/a' }])
    const [, grading] = driver.started
    expect(Object.keys(grading?.readOnlyFiles ?? {})).toEqual(['/box/out/a', '/tests/t'])
    expect([driver.started[0]?.readOnlyFiles, driver.open]).toEqual([undefined, 0])
  })

  test('keeps what its first box held, when the world stops that itself', async () => {
    let found: string[] = []
    const env = boxed({
      sandbox: { artefacts: ['/box'] },
      world: async (sandbox) => {
        const box = await sandbox.start({ files: { a: 'kept' } })
        await box.stop()
        await box.stop()
      },
      reward: async (sandbox) => {
        found = sandbox.artefacts?.entries.map(({ path }) => path) ?? []
        return 1
      },
    })
    await recorded(env, speak, { sandbox: new FakeBoxes() })
    expect(found).toEqual(['/box/a'])
  })

  test('without the declaration, a box is the fault of who asks for one', async () => {
    const { sandbox: _, ...definition } = boxed({}).definition
    const run = await recorded(environment(definition as never), speak)
    expect(run.only.fault).toMatchObject({ owner: 'world', code: 'sandbox_undeclared' })
  })

  test('may not have a system of its boxes that it may not read', async () => {
    const error = await recorded(boxed({ sandbox: { image: '/etc/../root' } }), speak, {
      sandbox: new FakeBoxes(),
    }).catch((thrown: unknown) => thrown)
    expect(QuintainError.isInstance(error) && error.code).toBe('definition_invalid')
  })

  test('a world reaches no port of the host that it has no permission for', async () => {
    const world = async (sandbox: Sandbox) => {
      await sandbox.start({ network: { sockets: [{ box: { port: 80 }, host: { port: 5432 } }] } })
    }
    const run = await recorded(boxed({ world }), speak, { sandbox: new FakeBoxes() })
    expect(run.only.fault).toMatchObject({ owner: 'world', code: 'threw' })
  })
})

describe('in worker processes', () => {
  const body = (world: string, more = '') => `{
    tasks: [{ id: 'a', prompt: 'go', secret: { gold: 'canary-gold' } }],
    needs: ['turns'],
    sandbox: { artefacts: ['/box'] },
    limits: { tool: '5s' },
    async world(task, { sandbox }) {
      const box = await sandbox.start({ files: { readme: 'hello' } })
      return { async reply() { ${world}; return { content: 'ok', done: 'over' } }, finish: () => null }
    },
    rewards: { solved: async ({ sandbox, task }) => {
      const box = await sandbox.start({ readOnlyFiles: { '/tests/gold': task.secret.gold } })
      return Number((await box.exec('/tests/gold')).stdout === 'canary-gold')
    } },
    policies: { *speak() { yield 'hello' } },
    ${more}
  }`
  const files = () => new FakeBoxes({ run: (command, _options, held) => String(held.get(command)) })

  test('boxes are asked for over the channel, and hold no secret before grading', async () => {
    const driver = files()
    const env = await packaged(
      body(`await box.write('said', 'x'); await box.read('readme'); await box.list('/')`),
    )
    const run = await recorded(env, speak, { sandbox: driver, workers: 1 })
    expect([run.only.fault, run.only.verdict?.reward, driver.open]).toEqual([null, 1, 0])
    const [agents] = driver.started
    expect(JSON.stringify(agents)).not.toContain('canary')
    for (const [path, text] of await filesOf(run.dir, 'publishable'))
      expect([path, text.includes('canary-gold')]).toEqual([path, false])
  })

  test('a worker that dies leaves no box', async () => {
    const driver = files()
    const env = await packaged(body('process.exit(3)'))
    const run = await recorded(env, speak, { sandbox: driver, workers: 1 })
    expect(run.only.fault).toMatchObject({ owner: 'world', code: 'crashed' })
    expect(driver.open).toBe(0)
  })

  test('an attempt that is cancelled leaves no box, whatever it waits for', async () => {
    const stop = new AbortController()
    const driver = new FakeBoxes({
      run: () => {
        stop.abort()
        return new Promise<string>(() => {})
      },
    })
    const env = await packaged(body(`await box.exec('for ever')`))
    const run = await recorded(env, speak, { sandbox: driver, workers: 1, signal: stop.signal, graceMs: 0 })
    expect([run.attempts[0]?.outcome, driver.open]).toEqual(['cancelled', 0])
  })

  test('a command is ended by the signal that it was given', async () => {
    const driver = new FakeBoxes({ run: () => new Promise<string>(() => {}) })
    const given = `const end = await box.exec('for ever', { signal: AbortSignal.timeout(30) }); if (!end.aborted) throw new Error('not aborted')`
    const run = await recorded(await packaged(body(given)), speak, {
      sandbox: driver,
      workers: 1,
      limits: { grade: '200ms' },
    })
    expect(run.only.fault?.owner).toBe('grader')
  })

  test('what is asked for is checked where the boxes are', async () => {
    const driver = files()
    const asked = `
      const told = []
      for (const ask of [() => box.exec(7), () => box.write('a', { no: 'bytes' }), () => box.read(''), () => box.exec('x', { mounts: ['/'] }),
        () => sandboxOf.start({ mounts: [{ source: '/', target: '/host' }] }), () => sandboxOf.start({ image: '/' }), () => sandboxOf.start({ network: { sockets: [{ box: { port: 1 }, host: { path: '/run/docker.sock' } }] } })])
        told.push(await ask().then(() => 'done', (error) => error.code))
      if (told.some((one) => one !== 'options_invalid')) throw new Error(told.join())`
    const text = body(asked).replace(
      'async world(task, { sandbox }) {',
      'async world(task, { sandbox }) { const sandboxOf = sandbox;',
    )
    const run = await recorded(await packaged(text), speak, { sandbox: driver, workers: 1 })
    expect([run.only.fault, run.only.verdict?.reward]).toEqual([null, 1])
  })

  test('what an attempt left running cannot name the boxes of the next', async () => {
    const driver = files()
    const env = await packaged(
      body(`
        globalThis.left ??= []
        for (const old of globalThis.left.splice(0)) {
          const read = await Promise.race([old.read('readme').then(() => 'read', () => 'refused'), pause(200)])
          if (read === 'read') throw new Error('read')
        }
        if (globalThis.again === undefined) {
          globalThis.again = true
          globalThis.left.push(box)
          throw new Error('once')
        }`),
    )
    const run = await recorded(env, speak, { sandbox: driver, workers: 1 })
    expect(run.attempts.map(({ fault }) => fault?.message)).toEqual(['world.reply() threw: once', undefined])
  })

  test('a look at the first world ends its box', async () => {
    const driver = files()
    const env = await packaged(body('').replace("needs: ['turns'],", ''))
    const run = await recorded(env, speak, { sandbox: driver, workers: 1 })
    expect([run.only.fault, driver.started.length, driver.open]).toEqual([null, 3, 0])
  })
})

describe('the desk', () => {
  const desk = (most: number, boxes = 1) => {
    const driver = new FakeBoxes()
    const made = new BoxDesk()
    made.open({ driver, own: false, definition: { boxes }, most, network: false, log() {} })
    return { driver, desk: made }
  }
  const start = { op: 'start', grade: false, options: {} }

  test('gives nobody the boxes of another attempt or process', async () => {
    const { desk: held } = desk(8)
    const [mine, theirs] = [held.window(), held.window()]
    await mine.ask('a', start)
    const read = { op: 'read', box: 0, path: '/x' }
    await expect(mine.ask('a', read)).resolves.toMatchObject({ ok: false })
    await expect(mine.ask('b', read)).rejects.toMatchObject({ fault: { code: 'sandbox_stopped' } })
    await expect(theirs.ask('a', read)).rejects.toMatchObject({ fault: { code: 'sandbox_stopped' } })
    await held.close()
  })

  test('stops what comes up after its attempt has ended, and gives the room to the next', async () => {
    const { driver, desk: held } = desk(1)
    const window = held.window()
    const late = window.ask('a', start)
    const next = window.ask('b', start)
    await window.end('a')
    await expect(late).rejects.toMatchObject({ fault: { code: 'sandbox_stopped' } })
    await next
    expect(driver.open).toBe(1)
    await held.close()
    expect(driver.open).toBe(0)
  })

  test('an attempt takes room for all of its boxes at once, so that none waits for another for ever', async () => {
    const { driver, desk: held } = desk(3, 2)
    const window = held.window()
    const both = async (name: string) => {
      await window.ask(name, start)
      await pause(5)
      await window.ask(name, start)
      await window.end(name)
    }
    await Promise.all(['a', 'b', 'c', 'd'].map(both))
    expect([driver.started.length, driver.mostOpen, driver.open]).toEqual([8, 2, 0])
  })

  test('who gives up waiting is not counted', async () => {
    const slots = new BoxSlots(1)
    const never = new AbortController()
    const release = await slots.take(1, never.signal)
    const over = new AbortController()
    const waits: boolean[] = []
    const given = slots.take(5, over.signal, (waiting) => waits.push(waiting))
    over.abort(new Error('gone'))
    await expect(given).rejects.toThrow('gone')
    expect(waits).toEqual([true, false])
    release()
    release()
    const again = await slots.take(9, never.signal)
    again()
  })
})

test('artefacts: links lead to artefacts or are not there, and no bit is special', () => {
  const data = Buffer.from('x')
  const files = artefactFiles({
    version: 1,
    skipped: [],
    entries: [
      { kind: 'folder', path: '/box', mode: 0o755 },
      { kind: 'file', path: '/box/a', mode: 0o4755, data },
      { kind: 'link', path: '/box/near', target: './a' },
      { kind: 'link', path: '/box/around', target: '../box/near' },
      { kind: 'link', path: '/box/gold', target: '/tests/gold' },
      { kind: 'link', path: '/box/up', target: '../../tests/gold' },
      { kind: 'link', path: '/box/self', target: 'self' },
      { kind: 'link', path: '/box/missing', target: 'nothing' },
      { kind: 'link', path: '/box/by', target: 'here/../../tests/gold' },
      { kind: 'link', path: '/box/here', target: '.' },
    ],
  })
  expect(files).toEqual({
    '/box/a': { data, mode: 0o755 },
    '/box/near': { link: './a' },
    // It went out of what is restored and came back.
    '/box/around': { link: '/box/a' },
    '/box/here': { link: '.' },
  })
})
