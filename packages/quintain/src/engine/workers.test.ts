import { readFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { packageOf } from './__fixtures__/package-of.ts'
import {
  filesOf,
  modelThat,
  pause,
  type Recorded,
  recorded,
  temporaryFolder,
} from './__fixtures__/recorded.ts'

/** A package with an environment in it, in a folder of its own. `body` sees `environment`, `tool` and `fs`. */
function packaged(body: string): Promise<string> {
  return packageOf(`import { readFileSync, writeFileSync } from 'node:fs'
const tasks = (n) => Array.from({ length: n }, (_, at) => ({ id: 't' + at, prompt: 'go', secret: { n: 'canary-gold-' + at } }))
const forever = () => { for (;;) {} }
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export default environment(${body})`)
}

/** Ten tasks in a world whose `reply` runs `code` for the task `t3`; the others take a little while. */
const oneBad = (code: string, others = 'await pause(20)') =>
  packaged(`{
    tasks: tasks(10),
    needs: ['turns'],
    world: (task) => ({
      async reply() {
        if (task.id === 't3') { ${code} } else { ${others} }
        return { content: '', done: 'over' }
      },
      finish: () => ({ id: task.id }),
    }),
    rewards: { any: ({ state }) => 1 },
    policies: { *speak() { yield 'hello' } },
  }`)
/** Whether a process runs; one that has ended and that nobody has asked after is a zombie on some machines. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const speak = { policy: 'script:speak' }

function expectOnly(run: Recorded, guilty: string, fault: object): void {
  for (const { order, status, chosen } of run.states) {
    if (order.task === guilty) {
      expect(status).toBe('faulted')
      expect(chosen!.fault).toMatchObject(fault)
      expect(chosen!.outcome).toBeNull()
    } else expect([order.task, status, chosen!.verdict?.reward]).toEqual([order.task, 'scored', 1])
  }
}

describe('a worker that is lost takes nobody with it but the order that is to blame', () => {
  test('process.exit in a world', async () => {
    const run = await recorded(await oneBad('process.exit(0)'), speak, { workers: 2 })
    expectOnly(run, 't3', { owner: 'world', stage: 'reply', code: 'crashed' })
    expect(run.states[3]!.tries).toBe(1)
  })

  test('process.exit that nobody can attribute, after a wait', async () => {
    const run = await recorded(await oneBad('await pause(5); process.exit(9)'), speak, { workers: 2 })
    expectOnly(run, 't3', { owner: 'world', code: 'crashed' })
  })

  test('an exception in a timer, with many orders in flight', async () => {
    const dir = await packaged(`{
      tasks: tasks(60),
      needs: ['turns'],
      world: (task) => ({
        async reply() {
          if (task.id === 't3') setTimeout(() => { throw new Error('late') }, 1)
          await pause(40)
          return { content: '', done: 'over' }
        },
        finish: () => null,
      }),
      rewards: { any: () => 1 },
      policies: { *speak() { yield 'hello' } },
    }`)
    const run = await recorded(dir, speak, { workers: 1, concurrency: 60 })
    expectOnly(run, 't3', { owner: 'world', code: 'crashed' })
  })

  test('an endless loop in a world is a block, found by its own limit', async () => {
    const run = await recorded(await oneBad('forever()'), speak, { workers: 2, limits: { tool: '1s' } })
    expectOnly(run, 't3', { owner: 'world', stage: 'reply', code: 'blocked' })
  })

  test('an endless loop in a reward is a block of the grader', async () => {
    const dir = await packaged(`{
      tasks: tasks(6),
      rewards: { any: ({ task }) => (task.id === 't3' ? forever() : 1) },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 2, limits: { grade: '1s' } })
    expectOnly(run, 't3', { owner: 'grader', stage: 'grade', code: 'blocked' })
  })

  test('an endless loop as the first world is opened', async () => {
    const dir = await packaged(`{
      tasks: tasks(3),
      world: (task) => (task.id === 't0' ? forever() : { finish: () => null }),
      rewards: { any: () => 1 },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 1, limits: { tool: '1s' } })
    expectOnly(run, 't0', { owner: 'world', stage: 'open', code: 'blocked' })
  })

  test('a crash of the engine itself, as when memory runs out', async () => {
    const run = await recorded(await oneBad('process.abort()'), speak, { workers: 1 })
    expectOnly(run, 't3', { owner: 'world', code: 'crashed' })
  })

  test('killed from outside: all its orders are run again and scored', async () => {
    const dir = await oneBad('await pause(20)')
    const pids = new Set<number>()
    const model = modelThat(async (_request, { task }) => {
      if (task === 't5' && pids.size === 0) {
        const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8')
        for (const pid of children.trim().split(' ').map(Number)) {
          const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
          if (!line.includes('worker-main')) continue
          pids.add(pid)
          process.kill(pid, 'SIGKILL')
        }
      }
      await pause(10)
      return 'hello'
    })
    const run = await recorded(dir, { model }, { workers: 2 })
    if (process.platform === 'linux') expect(pids.size).toBe(2)
    expect(run.states.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'scored'))
  })

  test('an unhandled rejection in a world ends nothing', async () => {
    const run = await recorded(
      await oneBad("void Promise.reject(new Error('nobody waits')); await pause(20)"),
      speak,
      { workers: 1 },
    )
    expect(run.states.every(({ status, tries }) => status === 'scored' && tries === 1)).toBe(true)
    expect(await readFile(join(run.dir, 'private', 'worker.log'), 'utf8')).toContain('nobody waits')
  })

  test('a group reward that ends its process is the fault of the grader', async () => {
    const dir = await packaged(`{
      tasks: tasks(6),
      rewards: { own: () => 1 },
      groupRewards: {
        rank: {
          reward: ({ members }) => {
            if (members[0].task.id !== 't5') process.exit(1)
            return Object.fromEntries(members.map(({ id }) => [id, 1]))
          },
        },
      },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 2, repeats: 2 })
    for (const { order, status, chosen } of run.states) {
      if (order.task === 't5') expect([status, chosen!.verdict!.reward]).toEqual(['scored', 2])
      else expect(chosen!.fault).toMatchObject({ owner: 'grader', stage: 'group', code: 'crashed' })
    }
  })

  test('an environment that always ends its process stops the run with the reason', async () => {
    const dir = await packaged(`{
      tasks: tasks(200),
      world: () => process.exit(3),
      needs: [],
      rewards: { any: () => 1 },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 2, concurrency: 12, maxTries: 1 })
    expect(run.end.stop).toMatchObject({ code: 'only_faults' })
    expect(run.end.stop!.message).toContain('world/crashed')
  })
})

describe('code of an environment is shut in', () => {
  const canary = 'canary-host-91f6c2'
  beforeAll(() => {
    process.env['QUINTAIN_TEST_API_KEY'] = canary
  })
  afterAll(() => {
    delete process.env['QUINTAIN_TEST_API_KEY']
  })

  const looking = (extra = '') =>
    packaged(`{
      tasks: tasks(1),
      options: undefined,
      ${extra}
      world: () => ({
        async finish() {
          const { spawnSync } = await import('node:child_process')
          const tried = {}
          const attempt = (name, run) => {
            try { tried[name] = String(run()) } catch (error) { tried[name] = error.code ?? error.message }
          }
          attempt('env', () => JSON.stringify(process.env))
          attempt('argv', () => process.argv.slice(2).join())
          attempt('read', () => readFileSync('/etc/passwd', 'utf8').slice(0, 4))
          attempt('write', () => writeFileSync(import.meta.dirname + '/written', 'x'))
          attempt('own', () => readFileSync(import.meta.dirname + '/package.json', 'utf8').slice(0, 1))
          attempt('spawn', () => spawnSync('true').status)
          return tried
        },
      }),
      rewards: { any: () => 1 },
    }`)
  const stateOf = async (run: Recorded) => (await run.hidden())!.state as Record<string, string>

  test('with an empty environment, no files but its own, and no programs', async () => {
    const run = await recorded(await looking(), { policy: 'script:noop' }, { workers: 1 })
    expect(run.only.fault).toBeNull()
    expect(await stateOf(run)).toEqual({
      env: '{}',
      argv: '',
      read: 'ERR_ACCESS_DENIED',
      write: 'ERR_ACCESS_DENIED',
      own: '{',
      spawn: 'ERR_ACCESS_DENIED',
    })
    for (const which of ['publishable', 'private'] as const) {
      for (const [where, content] of await filesOf(run.dir, which))
        expect(content, where).not.toContain(canary)
    }
  })

  test('but for what it declares', async () => {
    const dir = await looking("permissions: { read: ['/etc/passwd'], subprocess: true },")
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 1 })
    expect(await stateOf(run)).toMatchObject({
      env: '{}',
      read: 'root',
      write: 'ERR_ACCESS_DENIED',
      spawn: '0',
    })
  })

  test('and what it started ends with it', async () => {
    const dir = await packaged(`{
      tasks: tasks(1),
      permissions: { subprocess: true },
      needs: [],
      world: () => ({
        async finish() {
          const { spawn } = await import('node:child_process')
          const child = spawn('sleep', ['987654'], { stdio: 'inherit' })
          return { pid: child.pid }
        },
      }),
      rewards: { any: () => 1 },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 1 })
    const { pid } = (await run.hidden())!.state as { pid: number }
    await vi.waitUntil(() => !isAlive(pid))
  })

  test('and what it prints goes to the private log alone', async () => {
    const dir = await packaged(`{
      tasks: tasks(1),
      world: (task) => ({ finish: () => { console.log('out', task.secret.n); console.error('err', task.secret.n) } }),
      rewards: { any: () => 1 },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 1 })
    const log = await readFile(join(run.dir, 'private', 'worker.log'), 'utf8')
    expect(log).toContain('out canary-gold-0')
    expect(log).toContain('err canary-gold-0')
    for (const [where, content] of await filesOf(run.dir, 'publishable'))
      expect(content, where).not.toContain('canary-gold')
  })

  test('and what a task throws as it is made is not published', async () => {
    // The worker that lists the tasks can make them all; the other cannot.
    const dir = await packaged(`{
      tasks: {
        size: 8,
        at: (() => {
          let made = 0
          return (index) => {
            if (made++ === 0 && index > 0) throw new Error('made of canary-gold-x')
            return { id: 't' + index, prompt: 'go' }
          }
        })(),
      },
      needs: [],
      rewards: { any: () => 1 },
    }`)
    const run = await recorded(dir, { policy: 'script:noop' }, { workers: 2 })
    const faulted = run.states.filter(({ status }) => status === 'faulted')
    expect(faulted.length).toBeGreaterThan(0)
    expect(faulted[0]!.chosen!.fault).toMatchObject({ owner: 'world', stage: 'task' })
    expect((await run.hidden(faulted[0]!.chosen))!.errors![0]!.text).toContain('canary-gold-x')
    for (const [where, content] of await filesOf(run.dir, 'publishable'))
      expect(content, where).not.toContain('canary-gold')
  })
})

test('models are called by the main process, with the waiting told to the worker', async () => {
  const dir = await oneBad('')
  const seen: unknown[] = []
  const model = modelThat(async (request, { onWait, seat, task, repeat }) => {
    seen.push([request.messages.at(-1)!.content, seat, task, repeat])
    onWait?.(true)
    await pause(150)
    onWait?.(false)
    return { message: { role: 'assistant', content: 'hello' }, timing: { totalMs: 150, waitMs: 150 } }
  })
  const run = await recorded(dir, { model }, { workers: 1, tasks: ['t1'], limits: { wall: 100 } })
  expect(seen).toEqual([['go', 'agent', 't1', 0]])
  expect(run.only).toMatchObject({ outcome: 'env_done', timing: { waitMs: 150 } })
})

test('stopping at once ends workers, and what ran is open', async () => {
  const soft = new AbortController()
  const hard = new AbortController()
  const dir = await oneBad('forever()')
  const model = modelThat((_request, { task }) => {
    if (task === 't3') {
      setTimeout(() => soft.abort(), 50)
      setTimeout(() => hard.abort(), 100)
    }
    return 'hello'
  })
  const run = await recorded(
    dir,
    { model },
    { workers: 1, tasks: ['t3'], signal: soft.signal, hardSignal: hard.signal, graceMs: 600_000 },
  )
  expect(run.states[0]!.status).toBe('cancelled')
})

describe('an environment that cannot be loaded', () => {
  test.for([
    ['throws as it is loaded', "(() => { throw new Error('at load') })()", 'environment_load_failed'],
    ['ends its process', '(() => process.exit(1))()', 'worker_start_failed'],
    ['has an unknown field', '{ tasks: [], rewards: { a: () => 1 }, reward: 1 }', 'definition_invalid'],
  ] as const)('%s: a clear error before anything is ordered', async ([, body, code]) => {
    const dir = await packaged(body)
    const runs = join(await temporaryFolder(), 'run')
    await mkdir(runs, { recursive: true })
    await expect(recorded(dir, { policy: 'script:noop' }, { workers: 1 })).rejects.toMatchObject({ code })
  })
})

test('a seat whose script the environment ships is played in workers too', async () => {
  const dir = await packaged(`{
    tasks: tasks(2),
    needs: ['turns', 'seats'],
    seats: { user: { *play({ task }) { yield 'my order is ' + task.id; yield 'thanks' } } },
    first: 'user',
    world: () => ({
      said: [],
      reply(text, seat) {
        this.said.push(seat + ': ' + text)
        if (text === 'thanks') return { content: '', done: 'served' }
        return { content: text, next: seat === 'user' ? 'agent' : 'user' }
      },
      finish() { return this.said },
    }),
    rewards: { any: ({ state }) => state.length },
    policies: { *speak() { yield 'noted' } },
  }`)
  const run = await recorded(dir, speak, { workers: 1 })
  expect(run.states.map(({ status, chosen }) => [status, chosen?.stop, chosen?.verdict?.reward])).toEqual([
    ['scored', 'served', 3],
    ['scored', 'served', 3],
  ])
  expect(Object.keys(run.end.manifest.seats)).toEqual(['agent', 'user'])
})

test('a thread of an environment is refused, so that none runs without the permission model', async () => {
  const dir = await packaged(`{
    tasks: tasks(1),
    needs: ['turns'],
    world: () => ({
      async reply() {
        const { Worker } = await import('node:worker_threads')
        const escape = "require('node:fs').readFileSync('/etc/passwd')"
        try {
          new Worker(escape, { eval: true, execArgv: [] })
          return { content: 'started', done: 'started' }
        } catch (error) {
          return { content: error.code, done: error.code }
        }
      },
      finish: () => null,
    }),
    rewards: { any: () => 1 },
    policies: { *speak() { yield 'hello' } },
  }`)
  const run = await recorded(dir, speak, { workers: 1 })
  expect(run.only.stop).toBe('ERR_ACCESS_DENIED')
})
